//! Master keys: their SQL.

use super::audit::shown;
use super::{Query, Transaction};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, InUse, StorageError};
use domain::audit::Note;
use domain::id::MasterKeyId;
use domain::inventory::{MasterKeyFields, SealedKey, SealedMasterKey};
use domain::revision::Precondition;
use domain::text::Name;

/// The operations on master keys.
impl Access {
    /// Stores a new master key, already wrapped.
    pub async fn insert_master_key(
        &self,
        key: MasterKeyFields,
    ) -> Result<SealedMasterKey, StorageError> {
        self.change("insert_master_key", key, |tx, key| {
            Box::pin(insert(tx, key))
        })
        .await
    }

    /// The master key with this id, still wrapped.
    pub async fn master_key(
        &self,
        id: MasterKeyId,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        self.read("master_key", id, |db, id| Box::pin(master_key(db, *id)))
            .await
    }

    /// At most `limit` master keys after the one with the id `after`, ordered by id.
    pub async fn master_keys(
        &self,
        after: Option<MasterKeyId>,
        limit: usize,
    ) -> Result<Vec<SealedMasterKey>, StorageError> {
        self.read("master_keys", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// How many master keys there are.
    pub async fn count_master_keys(&self) -> Result<u64, StorageError> {
        self.read("count_master_keys", (), |db, ()| {
            db.count("SELECT count(*) FROM master_keys", &[])
        })
        .await
    }

    /// Renames a master key.
    pub async fn rename_master_key(
        &self,
        id: MasterKeyId,
        name: Name,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        self.rename_master_key_if(id, name, Precondition::None)
            .await
    }

    /// Like [`Self::rename_master_key`], but only if the key still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed).
    pub async fn rename_master_key_if(
        &self,
        id: MasterKeyId,
        name: Name,
        expected: Precondition,
    ) -> Result<Option<SealedMasterKey>, StorageError> {
        let arguments = (id, name, expected);
        self.change(
            "rename_master_key",
            arguments,
            |tx, (id, name, expected)| Box::pin(rename(tx, *id, name, expected)),
        )
        .await
    }

    /// Deletes a master key that no inlay uses.
    pub async fn delete_master_key(&self, id: MasterKeyId) -> Result<Option<()>, StorageError> {
        self.delete_master_key_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_master_key`], but only if the key still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed); [`InUse::ByInlays`](crate::InUse::ByInlays) and
    /// [`InUse::ByImport`](crate::InUse::ByImport).
    pub async fn delete_master_key_if(
        &self,
        id: MasterKeyId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_master_key", (id, expected), |tx, (id, expected)| {
            Box::pin(delete(tx, *id, expected))
        })
        .await
    }
}

const SELECT: &str = "SELECT id, name, key, key_print, derivation, created_at FROM master_keys";

fn read(mut row: Row) -> Result<SealedMasterKey, StorageError> {
    Ok(SealedMasterKey {
        id: row.take()?,
        fields: MasterKeyFields {
            name: row.take()?,
            key: SealedKey {
                wrapped: row.take()?,
                fingerprint: row.take()?,
            },
            derivation: row.json("master key")?,
        },
        created_at: row.take()?,
    })
}

async fn insert(
    tx: &mut dyn Transaction,
    key: &MasterKeyFields,
) -> Result<SealedMasterKey, StorageError> {
    let now = tx.now();
    let derivation = serde_json::to_string(&key.derivation);
    let derivation = derivation.map_err(|_| unreadable("master key"))?;
    let mut inserted = tx
        .write_one(
            "INSERT INTO master_keys (name, key, key_print, derivation, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id",
            &values![
                &key.name,
                &key.key.wrapped,
                key.key.fingerprint,
                derivation,
                now,
            ],
        )
        .await?;
    let id = inserted.take()?;
    let shown = shown::master_key(key);
    tx.note(Note::created(format!("master-keys/{id}"), &shown));
    let stored = master_key(tx, id).await?;
    stored.ok_or_else(|| unreadable("master key"))
}

async fn master_key(
    db: &mut dyn Query,
    id: MasterKeyId,
) -> Result<Option<SealedMasterKey>, StorageError> {
    let sql = format!("{SELECT} WHERE id = ?1");
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

async fn list(
    db: &mut dyn Query,
    after: Option<MasterKeyId>,
    limit: usize,
) -> Result<Vec<SealedMasterKey>, StorageError> {
    let sql = format!("{SELECT} WHERE id > ?1 ORDER BY id LIMIT ?2");
    let values = values![after.map_or(0, MasterKeyId::get), Value::limit(limit)];
    db.query(&sql, &values)
        .await?
        .into_iter()
        .map(read)
        .collect()
}

async fn rename(
    tx: &mut dyn Transaction,
    id: MasterKeyId,
    name: &Name,
    expected: &Precondition,
) -> Result<Option<SealedMasterKey>, StorageError> {
    let Some(present) = master_key(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    if present.fields.name == *name {
        return Ok(Some(present));
    }
    let sql = "UPDATE master_keys SET name = ?2 WHERE id = ?1";
    tx.execute(sql, &values![id, name]).await?;
    tx.note(Note::changed(
        &serde_json::json!({"name": present.fields.name}),
        &serde_json::json!({"name": name}),
    ));
    master_key(tx, id).await
}

async fn delete(
    tx: &mut dyn Transaction,
    id: MasterKeyId,
    expected: &Precondition,
) -> Result<Option<()>, StorageError> {
    let Some(present) = master_key(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&present))?;
    let users = "SELECT count(*) FROM inlays WHERE master_key_id = ?1 AND deleted_at IS NULL";
    match tx.count(users, &values![id]).await? {
        0 => {}
        users => return Err(InUse::ByInlays(users).into()),
    }
    let templates = "SELECT count(*) FROM url_template_keys WHERE master_key_id = ?1";
    match tx.count(templates, &values![id]).await? {
        0 => {}
        templates => return Err(InUse::ByTemplates(templates).into()),
    }
    let reserved = "SELECT 1 FROM import_rows WHERE master_key_id = ?1 LIMIT 1";
    if tx.exists(reserved, &values![id]).await? {
        return Err(InUse::ByImport("master key").into());
    }
    let sql = "DELETE FROM master_keys WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    tx.note(Note::deleted(&shown::master_key(&present.fields)));
    Ok(Some(()))
}
