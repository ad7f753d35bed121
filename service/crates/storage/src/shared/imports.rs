//! Rows of a table of tags. Some are imported one by one. Those of imports that store all rows or
//! none are first set aside, and become tags later.
//!
//! Every reason against a row is checked before any of it is written, so that a refused row leaves
//! no data.

mod look;
mod make;

use std::sync::Arc;

use super::{Query, Transaction};
use crate::imports::{Aside, LEFT_AFTER, ROWS_AT_ONCE};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, Conflict, ImportRow, Imported, Staged, StorageError};
use domain::clock::Timestamp;
use domain::id::{ImportId, TagId};
use look::look;
use make::{Work, make};

/// The operations on imports whose rows are stored all or none.
impl Access {
    /// Checks rows, no slug twice, without writing. The results are in the order of `rows`. With
    /// `upsert`, a row whose slug belongs to a tag changes that tag; otherwise the row is refused.
    ///
    /// # Errors
    ///
    /// Of a row: those of [`Self::import_tags`].
    pub async fn check_rows(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        self.read_snapshot("check_rows", (rows, upsert), |db, (rows, upsert)| {
            Box::pin(check(db, rows, *upsert))
        })
        .await
    }

    /// Begins an import. No row is set aside yet.
    pub async fn begin_import(&self) -> Result<ImportId, StorageError> {
        self.change("begin_import", (), |tx, ()| Box::pin(begin(tx)))
            .await
    }

    /// Checks rows like [`Self::check_rows`], and sets the good ones aside. From then on, their
    /// slugs and UIDs are reserved, and the objects that they refer to cannot be deleted.
    ///
    /// # Errors
    ///
    /// [`Conflict::ImportGivenUp`]; of a row as [`Self::check_rows`].
    pub async fn stage_rows(
        &self,
        import: ImportId,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        let arguments = (import, rows, upsert);
        self.change("stage_rows", arguments, |tx, (import, rows, upsert)| {
            Box::pin(stage(tx, *import, rows, *upsert))
        })
        .await
    }

    /// Decides that all rows set aside become tags: from then on, the import cannot be cancelled.
    ///
    /// # Errors
    ///
    /// [`Conflict::ImportGivenUp`].
    pub async fn decide_import(&self, import: ImportId) -> Result<(), StorageError> {
        self.change("decide_import", import, |tx, import| {
            Box::pin(touch(tx, *import, "staging", "decided"))
        })
        .await
    }

    /// Turns the next rows of a decided import into tags, in their order, at most [`ROWS_AT_ONCE`].
    /// Returns each with its index among all rows, from 0. An empty result means that no row is
    /// left and the import is over.
    pub async fn apply_import(
        &self,
        import: ImportId,
    ) -> Result<Vec<(u64, Imported)>, StorageError> {
        self.change("apply_import", import, |tx, import| {
            Box::pin(apply(tx, *import))
        })
        .await
    }

    /// Cancels an import that is not decided, and removes some of its rows; `true` if more are left
    /// to remove.
    pub async fn discard_import(&self, import: ImportId) -> Result<bool, StorageError> {
        self.change("discard_import", import, |tx, import| {
            Box::pin(discard(tx, *import))
        })
        .await
    }

    /// Imports that have been untouched for [`LEFT_AFTER`], and whether each is decided.
    pub async fn abandoned_imports(&self) -> Result<Vec<(ImportId, bool)>, StorageError> {
        let since = self.now().await?.minus(LEFT_AFTER);
        self.read("abandoned_imports", since, |db, since| {
            Box::pin(abandoned(db, *since))
        })
        .await
    }
}

/// Stores rows one by one: a refused row does not affect the others. If others wait, it ends after
/// [`ROWS_AT_ONCE`] rows, and has no results for the rest.
pub(super) async fn import(
    tx: &mut dyn Transaction,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let mut results = Vec::with_capacity(rows.len());
    for rows in rows.chunks(ROWS_AT_ONCE) {
        if !results.is_empty() && tx.others_wait() {
            break;
        }
        results.extend(import_some(tx, rows, upsert).await?);
    }
    Ok(results)
}

async fn import_some(
    tx: &mut dyn Transaction,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let seen = look(tx, rows, upsert).await?;
    let mut work = Vec::with_capacity(rows.len());
    let mut accepted = Vec::with_capacity(rows.len());
    for (row, seen) in rows.iter().zip(seen) {
        let cells = &row.row;
        accepted.push(seen.map(|seen| {
            let inlay = seen.new_inlay(row).cloned();
            work.push(match seen.changes {
                Some((tag, _)) => Work::change(tag, cells, inlay),
                None => Work::insert(seen.fields, inlay),
            });
            seen.kept
        }));
    }
    // A request has the same option for all its rows.
    let add = rows.first().is_some_and(|row| row.add_variables);
    let mut made = make(tx, work, add).await?.into_iter();
    let results = accepted.into_iter().map(|accepted| match accepted {
        Ok(kept) => {
            let made = made.next().ok_or_else(make::lost)?;
            Ok(made.map(|imported| Imported { kept, ..imported }))
        }
        Err(conflict) => Ok(Err(conflict)),
    });
    results.collect()
}

async fn check(
    db: &mut dyn Query,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
    let seen = look(db, rows, upsert).await?.into_iter();
    Ok(seen.map(|seen| seen.map(|seen| seen.staged())).collect())
}

async fn begin(tx: &mut dyn Transaction) -> Result<ImportId, StorageError> {
    tx.is_no_change();
    let now = tx.now();
    let sql = "INSERT INTO imports (state, touched_at) VALUES ('staging', ?1) RETURNING id";
    tx.write_one(sql, &values![now]).await?.take()
}

/// Notes that an import was just worked on, and moves it from the state `from` to the state `to`.
async fn touch(
    tx: &mut dyn Transaction,
    import: ImportId,
    from: &str,
    to: &str,
) -> Result<(), StorageError> {
    let now = tx.now();
    let sql = "UPDATE imports SET touched_at = ?2, state = ?4 WHERE id = ?1 AND state = ?3";
    match tx.execute(sql, &values![import, now, from, to]).await? {
        0 => Err(Conflict::ImportGivenUp.into()),
        _ => Ok(()),
    }
}

/// Columns of a row that is set aside.
const COLUMNS: [&str; 11] = [
    "import_id",
    "position",
    "slug",
    "uid",
    "tag_id",
    "experience_id",
    "group_id",
    "master_key_id",
    "url_template_id",
    "row",
    "inlay",
];

async fn stage(
    tx: &mut dyn Transaction,
    import: ImportId,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
    tx.is_no_change();
    touch(tx, import, "staging", "staging").await?;
    let seen = look(tx, rows, upsert).await?;
    let next = "SELECT coalesce(max(position) + 1, 0) FROM import_rows WHERE import_id = ?1";
    let next = tx.count(next, &values![import]).await?;
    let mut asides = Vec::with_capacity(rows.len());
    let good = rows.iter().zip(&seen);
    let good = good.filter_map(|(row, seen)| Some((row, seen.as_ref().ok()?)));
    for (position, (row, seen)) in (next..).zip(good) {
        let aside = Aside::of(row, seen)?;
        let values = values![
            import,
            position,
            aside.slug,
            aside.uid,
            aside.tag_id,
            aside.experience_id,
            aside.group_id,
            aside.master_key_id,
            aside.url_template_id,
            aside.row,
            aside.inlay,
        ];
        asides.push(values.into());
    }
    super::insert_rows(tx, "import_rows", &COLUMNS, asides, "").await?;
    Ok(seen
        .into_iter()
        .map(|seen| seen.map(|seen| seen.staged()))
        .collect())
}

async fn apply(
    tx: &mut dyn Transaction,
    import: ImportId,
) -> Result<Vec<(u64, Imported)>, StorageError> {
    match touch(tx, import, "decided", "decided").await {
        // Another caller has finished the import.
        Err(StorageError::Conflict(_)) => return Ok(Vec::new()),
        touched => touched?,
    }
    let sql = format!(
        "SELECT {} FROM import_rows WHERE import_id = ?1 ORDER BY position LIMIT ?2",
        COLUMNS[1..].join(", ")
    );
    let found = tx
        .query(&sql, &values![import, Value::limit(ROWS_AT_ONCE)])
        .await?;
    let asides = found.into_iter().map(aside);
    let asides = asides.collect::<Result<Vec<_>, _>>()?;
    let Some((last, _)) = asides.last() else {
        tx.execute("DELETE FROM imports WHERE id = ?1", &values![import])
            .await?;
        return Ok(Vec::new());
    };
    // Delete the rows first: they reserve the slugs and UIDs that the tags now take.
    let sql = "DELETE FROM import_rows WHERE import_id = ?1 AND position <= ?2";
    tx.execute(sql, &values![import, *last]).await?;
    let rows = asides.iter().map(|(_, aside)| aside.row());
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let add = rows.first().is_some_and(|row| row.add_variables);
    let work = asides.iter().zip(&rows).map(|((_, aside), row)| {
        let inlay = aside.inlay()?;
        Ok(match aside.tag_id {
            Some(tag) => {
                let tag = TagId::try_from(tag).map_err(|_| unreadable("import"))?;
                Work::apply(tag, &row.cells, inlay)
            }
            None => Work::insert(aside.new_tag()?, inlay),
        })
    });
    let work = work.collect::<Result<_, StorageError>>()?;
    // No conflict is possible: everything these rows need was reserved when they were set aside.
    let made = make(tx, work, add).await?;
    let made = asides.iter().zip(made);
    made.map(|((place, _), imported)| Ok((*place, imported?)))
        .collect()
}

fn aside(mut row: Row) -> Result<(u64, Aside), StorageError> {
    let position = row.take()?;
    let aside = Aside {
        slug: row.take()?,
        uid: row.take()?,
        tag_id: row.take()?,
        experience_id: row.take()?,
        group_id: row.take()?,
        master_key_id: row.take()?,
        url_template_id: row.take()?,
        row: row.take()?,
        inlay: row.take()?,
    };
    Ok((position, aside))
}

async fn discard(tx: &mut dyn Transaction, import: ImportId) -> Result<bool, StorageError> {
    tx.is_no_change();
    let sql = "SELECT state FROM imports WHERE id = ?1";
    let Some(mut found) = tx.row(sql, &values![import]).await? else {
        return Ok(false);
    };
    let state: String = found.take()?;
    if state == "decided" {
        // The import is decided, so its rows become tags.
        return Ok(false);
    }
    touch(tx, import, &state, "given_up").await?;
    let sql = "DELETE FROM import_rows WHERE import_id = ?1 AND position IN
         (SELECT position FROM import_rows WHERE import_id = ?1 ORDER BY position LIMIT ?2)";
    let values = values![import, Value::limit(ROWS_AT_ONCE)];
    let removed = tx.execute(sql, &values).await?;
    if removed == 0 {
        tx.execute("DELETE FROM imports WHERE id = ?1", &values![import])
            .await?;
    }
    Ok(removed > 0)
}

async fn abandoned(
    db: &mut dyn Query,
    since: Timestamp,
) -> Result<Vec<(ImportId, bool)>, StorageError> {
    let sql = "SELECT id, state = 'decided' FROM imports WHERE touched_at <= ?1 ORDER BY id";
    let found = db.query(sql, &values![since]).await?.into_iter();
    found
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}
