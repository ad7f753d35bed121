//! Rotation of the key that wraps secrets at rest: its SQL.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Query, Transaction};
use crate::catalogue::{Column, tables};
use crate::value::{Value, unreadable, values};
use crate::{
    Access, Conflict, InUse, KeyRotation, Rewrap, Rewrapped, SecretsDone, SecretsPlace,
    StorageError,
};
use domain::audit::Note;
use domain::clock::Timestamp;

/// The operations of a rotation. No other process uses the database meanwhile.
impl Access {
    /// The unfinished rotation, if there is one.
    pub async fn key_rotation(&self) -> Result<Option<KeyRotation>, StorageError> {
        self.read("key_rotation", (), |db, ()| Box::pin(present(db)))
            .await
    }

    /// Begins a rotation, unless one is unfinished. Returns the unfinished one.
    pub async fn begin_key_rotation(&self, probe: Vec<u8>) -> Result<KeyRotation, StorageError> {
        self.change("begin_key_rotation", probe, |tx, probe| {
            Box::pin(begin(tx, probe))
        })
        .await
    }

    /// How many rows contain secrets.
    pub async fn count_wrapped(&self) -> Result<u64, StorageError> {
        self.read("count_wrapped", (), |db, ()| Box::pin(count(db)))
            .await
    }

    /// Applies a [`Rewrap`] to the secrets of at most `limit` rows after `from`, in one commit.
    pub async fn rewrap(
        &self,
        from: SecretsPlace,
        limit: usize,
        with: Rewrap,
    ) -> Result<SecretsDone, StorageError> {
        let arguments = (from, limit, with);
        self.change("rewrap", arguments, |tx, (from, limit, with)| {
            Box::pin(rewrap(tx, from, *limit, with))
        })
        .await
    }

    /// Marks the rotation as finished.
    pub async fn end_key_rotation(&self) -> Result<(), StorageError> {
        self.change("end_key_rotation", (), |tx, ()| Box::pin(end(tx)))
            .await
    }
}

/// A table with wrapped columns: its key, and these columns.
struct Wrapped {
    table: &'static str,
    key: Vec<&'static str>,
    secrets: Vec<&'static str>,
}

/// All tables with wrapped columns.
static WRAPPED: LazyLock<Vec<Wrapped>> = LazyLock::new(|| {
    let all = tables().map(|table| Wrapped {
        table: table.name,
        key: names(table.key_columns().iter()),
        secrets: names(table.columns.iter().filter(|column| column.wrapped)),
    });
    all.filter(|table| !table.secrets.is_empty()).collect()
});

fn names(columns: impl Iterator<Item = &'static Column>) -> Vec<&'static str> {
    columns.map(|column| column.name).collect()
}

impl Wrapped {
    /// The condition for rows that contain a secret.
    fn condition(&self) -> String {
        let there: Vec<_> = self
            .secrets
            .iter()
            .map(|column| format!("{column} IS NOT NULL"))
            .collect();
        format!("({})", there.join(" OR "))
    }

    /// Selects the next rows: their key, then their secrets.
    fn select(&self, is_first: bool) -> String {
        let key = self.key.join(", ");
        let secrets = self.secrets.join(", ");
        let places: Vec<_> = (1..=self.key.len()).map(|n| format!("?{n}")).collect();
        let (behind, limit) = if is_first {
            (String::new(), 1)
        } else {
            let behind = format!(" AND ({key}) > ({})", places.join(", "));
            (behind, self.key.len() + 1)
        };
        format!(
            "SELECT {key}, {secrets} FROM {} WHERE {}{behind} ORDER BY {key} LIMIT ?{limit}",
            self.table,
            self.condition()
        )
    }

    /// Updates a row's secrets; the parameters are its key, then the secrets.
    fn update(&self) -> String {
        let place = |first: usize, columns: &[&str], between: &str| {
            let equal: Vec<_> = columns
                .iter()
                .zip(first..)
                .map(|(column, place)| format!("{column} = ?{place}"))
                .collect();
            equal.join(between)
        };
        format!(
            "UPDATE {} SET {} WHERE {}",
            self.table,
            place(self.key.len() + 1, &self.secrets, ", "),
            place(1, &self.key, " AND ")
        )
    }
}

/// The row of `settings` that exists while a rotation is unfinished.
pub(crate) const ROTATION: &str = "key_rotation";

/// The content of the row [`ROTATION`], JSON.
#[derive(Serialize, Deserialize)]
struct Mark {
    began_at: Timestamp,
    /// The wrapped value, in hexadecimal.
    probe: String,
}

async fn present(db: &mut dyn Query) -> Result<Option<KeyRotation>, StorageError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    let Some(mut row) = db.row(sql, &values![ROTATION]).await? else {
        return Ok(None);
    };
    let mark: Mark = row.json("rotation")?;
    let probe = base16ct::lower::decode_vec(&mark.probe).map_err(|_| unreadable("rotation"))?;
    Ok(Some(KeyRotation {
        began_at: mark.began_at,
        probe,
    }))
}

async fn begin(tx: &mut dyn Transaction, probe: &[u8]) -> Result<KeyRotation, StorageError> {
    if let Some(begun) = present(tx).await? {
        return Ok(begun);
    }
    let staged = "SELECT 1 FROM import_rows WHERE inlay IS NOT NULL LIMIT 1";
    if tx.exists(staged, &[]).await? {
        return Err(Conflict::from(InUse::ByImport("key")).into());
    }
    let began_at = tx.now();
    let mark = Mark {
        began_at,
        probe: base16ct::lower::encode_string(probe),
    };
    let json = serde_json::to_string(&mark).map_err(|_| unreadable("rotation"))?;
    let sql = "INSERT INTO settings (name, value) VALUES (?1, ?2)";
    tx.execute(sql, &values![ROTATION, json]).await?;
    tx.note(Note::done(&serde_json::json!({"began_at": began_at})));
    Ok(KeyRotation {
        began_at,
        probe: probe.to_vec(),
    })
}

async fn count(db: &mut dyn Query) -> Result<u64, StorageError> {
    let mut all = 0;
    for wrapped in WRAPPED.iter() {
        let condition = wrapped.condition();
        let sql = format!("SELECT count(*) FROM {} WHERE {condition}", wrapped.table);
        all += db.count(&sql, &[]).await?;
    }
    Ok(all)
}

async fn rewrap(
    tx: &mut dyn Transaction,
    from: &SecretsPlace,
    limit: usize,
    with: &Rewrap,
) -> Result<SecretsDone, StorageError> {
    let Some(wrapped) = WRAPPED.get(from.table) else {
        return Err(unreadable("place"));
    };
    let mut values = from.after.clone().unwrap_or_default();
    values.push(Value::limit(limit));
    let found = tx
        .query(&wrapped.select(from.after.is_none()), &values)
        .await?;
    let update = wrapped.update();
    let rows = found.len();
    let (mut unknown, mut last) = (0, None);
    for mut row in found {
        let key = wrapped.key.iter().map(|_| row.take::<Value<'static>>());
        let key = key.collect::<Result<Vec<_>, _>>()?;
        let (mut values, mut changed) = (key.clone(), false);
        for _ in &wrapped.secrets {
            let secret: Option<Vec<u8>> = row.take()?;
            values.push(match secret.as_deref().map(with) {
                Some(Rewrapped::As(wrapped)) => {
                    changed = true;
                    Value::from(wrapped)
                }
                Some(Rewrapped::Unknown) => {
                    unknown += 1;
                    Value::from(secret)
                }
                Some(Rewrapped::Stays) | None => Value::from(secret),
            });
        }
        if changed {
            tx.execute(&update, &values).await?;
        }
        last = Some(key);
    }
    let next = if rows == limit {
        Some((from.table, last))
    } else {
        (from.table + 1 < WRAPPED.len()).then_some((from.table + 1, None))
    };
    Ok(SecretsDone {
        table: wrapped.table,
        rows: rows as u64,
        unknown,
        next: next.map(|(table, after)| SecretsPlace { table, after }),
    })
}

async fn end(tx: &mut dyn Transaction) -> Result<(), StorageError> {
    let sql = "DELETE FROM settings WHERE name = ?1";
    tx.execute(sql, &values![ROTATION]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_behind_the_last_one_and_changed_by_their_key() {
        let of = |name: &str| {
            WRAPPED
                .iter()
                .find(|wrapped| wrapped.table == name)
                .unwrap()
        };
        let keys = of("chip_keys");
        assert_eq!(
            keys.select(false),
            "SELECT uid, generation, slot, key FROM chip_keys WHERE (key IS NOT NULL) \
             AND (uid, generation, slot) > (?1, ?2, ?3) ORDER BY uid, generation, slot LIMIT ?4"
        );
        assert_eq!(
            keys.update(),
            "UPDATE chip_keys SET key = ?4 WHERE uid = ?1 AND generation = ?2 AND slot = ?3"
        );
        assert!(of("inlays").select(true).ends_with("ORDER BY id LIMIT ?1"));
    }
}
