//! Imports whose rows are stored all or none: rows set aside, and made tags.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};

use super::{any_tag, save};
use crate::id::{ImportId, TagId};
use crate::storage::imports::{Aside, LEFT_AFTER_MILLIS, ROWS_AT_ONCE, Seen};
use crate::storage::sqlite::writer::Write;
use crate::storage::sqlite::{SqliteStorage, inlays, row, search};
use crate::storage::{Conflict, ImportRow, Imported, Imports, Put, Staged, StorageError};
use crate::tag::deleted;

#[async_trait]
impl Imports for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn check_rows(
        &self,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        self.read_long(move |connection| {
            let seen = rows.iter().map(|row| look(connection, row, upsert));
            seen.map(|seen| Ok(seen?.map(|seen| seen.staged())))
                .collect()
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn begin_import(&self) -> Result<ImportId, StorageError> {
        self.write(|write| {
            write
                .connection
                .prepare_cached("INSERT INTO imports (state, touched_at) VALUES ('staging', ?1)")?
                .execute([write.now.millis()])?;
            Ok(ImportId(write.connection.last_insert_rowid()))
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn stage_rows(
        &self,
        import: ImportId,
        rows: Vec<Arc<ImportRow>>,
        upsert: bool,
    ) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
        self.write(move |write| stage(write, import, &rows, upsert))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn decide_import(&self, import: ImportId) -> Result<(), StorageError> {
        self.write(move |write| touch(write, import, "staging", "decided"))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn apply_import(&self, import: ImportId) -> Result<Vec<(u64, Imported)>, StorageError> {
        self.write(move |write| apply(write, import)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn discard_import(&self, import: ImportId) -> Result<bool, StorageError> {
        self.write(move |write| discard(write, import)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn abandoned_imports(&self) -> Result<Vec<(ImportId, bool)>, StorageError> {
        let left = self.clock.now().plus_millis(-LEFT_AFTER_MILLIS).millis();
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, state = 'decided' FROM imports WHERE touched_at <= ?1 ORDER BY id",
            )?;
            let found = select.query_map([left], |row| Ok((ImportId(row.get(0)?), row.get(1)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

/// This process is the only one: whatever is not finished has nobody at work on it.
pub(in crate::storage::sqlite) fn abandon_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE imports SET touched_at = 0", [])?;
    Ok(())
}

fn look(
    connection: &Connection,
    row: &ImportRow,
    upsert: bool,
) -> Result<Result<Seen, Conflict>, StorageError> {
    match see(connection, row, upsert) {
        Err(StorageError::Conflict(conflict)) => Ok(Err(conflict)),
        seen => seen.map(Ok),
    }
}

fn see(connection: &Connection, row: &ImportRow, upsert: bool) -> Result<Seen, StorageError> {
    let owner = super::owner(connection, row)?;
    let (fields, changes) = match owner {
        None => (row.create()?, None),
        Some(owner) => {
            let before = super::tag(connection, owner.tag)?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| owner.refuses(&row.slug))?.fields;
            (row.change(&before)?, Some((owner.tag, before)))
        }
    };
    save::check(connection, &fields, owner.map(|owner| owner.tag))??;
    if let Some(inlay) = &row.inlay {
        inlays::check_new(connection, inlay)?;
    }
    Ok(Seen { fields, changes })
}

/// Notes that somebody is at work on an import, which is in the state `from`
/// and in the state `to` from now on.
fn touch(write: &Write<'_>, import: ImportId, from: &str, to: &str) -> Result<(), StorageError> {
    let touched = write
        .connection
        .prepare_cached(
            "UPDATE imports SET touched_at = ?2, state = ?4 WHERE id = ?1 AND state = ?3",
        )?
        .execute((import.0, write.now.millis(), from, to))?;
    if touched == 0 {
        return Err(Conflict::ImportGivenUp.into());
    }
    Ok(())
}

fn stage(
    write: &mut Write<'_>,
    import: ImportId,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Staged, Conflict>>, StorageError> {
    touch(write, import, "staging", "staging")?;
    let connection = write.connection;
    let mut position: i64 = connection
        .prepare_cached(
            "SELECT coalesce(max(position) + 1, 0) FROM import_rows WHERE import_id = ?1",
        )?
        .query_row([import.0], |row| row.get(0))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO import_rows (import_id, position, slug, uid, tag_id, experience_id, master_key_id, row, inlay)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut results = Vec::with_capacity(rows.len());
    for row in rows {
        let seen = look(connection, row, upsert)?;
        if let Ok(seen) = &seen {
            let changes = seen.changes.as_ref().map(|(id, _)| *id);
            let aside = Aside::of(row, &seen.fields, changes)?;
            insert.execute(rusqlite::params![
                import.0,
                position,
                aside.slug,
                aside.uid,
                aside.tag_id,
                aside.experience_id,
                aside.master_key_id,
                aside.row,
                aside.inlay,
            ])?;
            position += 1;
        }
        results.push(seen.map(|seen| seen.staged()));
    }
    Ok(results)
}

fn apply(write: &mut Write<'_>, import: ImportId) -> Result<Vec<(u64, Imported)>, StorageError> {
    let connection = write.connection;
    match touch(write, import, "decided", "decided") {
        // Another one has finished it.
        Err(StorageError::Conflict(_)) => return Ok(Vec::new()),
        touched => touched?,
    }
    let rows = next(connection, import)?;
    let Some((last, _)) = rows.last() else {
        connection
            .prepare_cached("DELETE FROM imports WHERE id = ?1")?
            .execute([import.0])?;
        return Ok(Vec::new());
    };
    // First, so that what they took can be theirs.
    connection
        .prepare_cached("DELETE FROM import_rows WHERE import_id = ?1 AND position <= ?2")?
        .execute((import.0, last))?;
    let newest = search::newest(connection)?;
    let mut results = Vec::with_capacity(rows.len());
    for (position, aside) in &rows {
        let imported = make(write, aside)?;
        results.push((position.unsigned_abs(), imported));
    }
    search::add_after(connection, newest)?;
    for (_, imported) in &results {
        if imported.put == Put::Set {
            search::replace(connection, imported.tag)?;
        }
    }
    Ok(results)
}

fn next(connection: &Connection, import: ImportId) -> Result<Vec<(i64, Aside)>, StorageError> {
    let mut select = connection.prepare_cached(
        "SELECT position, slug, uid, tag_id, experience_id, master_key_id, row, inlay FROM import_rows
         WHERE import_id = ?1 ORDER BY position LIMIT ?2",
    )?;
    let rows = select.query_map((import.0, row::limit(ROWS_AT_ONCE)), |row| {
        let aside = Aside {
            slug: row.get(1)?,
            uid: row.get(2)?,
            tag_id: row.get(3)?,
            experience_id: row.get(4)?,
            master_key_id: row.get(5)?,
            row: row.get(6)?,
            inlay: row.get(7)?,
        };
        Ok((row.get(0)?, aside))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Makes a row what it is to be. Nothing can be in its way: what it needs was
/// its own since it was set aside.
fn make(write: &mut Write<'_>, aside: &Aside) -> Result<Imported, StorageError> {
    let (tag, fields, deleted) = match aside.tag_id {
        None => {
            let fields = aside.new_tag()?;
            let tag = save::insert_row(write, &fields, false)??;
            (tag, fields, Vec::new())
        }
        Some(id) => {
            // It may have been deleted since: then it is deleted, and changed.
            let found = any_tag(write.connection, TagId(id))?;
            let (before, _) = found.ok_or_else(|| row::unreadable("tag"))?;
            let fields = aside.change(before.fields.clone())?;
            save::store_row(write, before.id, &before.fields, &fields)?;
            let deleted = deleted(&before.fields, &fields);
            (before.id, fields, deleted)
        }
    };
    let inlay = aside.inlay(tag)?;
    let inlay = inlay
        .map(|inlay| inlays::put_new(write, &inlay))
        .transpose()?;
    Ok(Imported {
        tag,
        slug: fields.slug,
        put: if aside.tag_id.is_some() {
            Put::Set
        } else {
            Put::New
        },
        inlay,
        deleted,
    })
}

fn discard(write: &mut Write<'_>, import: ImportId) -> Result<bool, StorageError> {
    let connection = write.connection;
    let state: Option<String> = connection
        .prepare_cached("SELECT state FROM imports WHERE id = ?1")?
        .query_row([import.0], |row| row.get(0))
        .optional()?;
    match state.as_deref() {
        // Its rows will be tags.
        Some("decided") | None => return Ok(false),
        Some(state) => touch(write, import, state, "given_up")?,
    }
    let removed = connection
        .prepare_cached(
            "DELETE FROM import_rows WHERE import_id = ?1 AND position IN
                (SELECT position FROM import_rows WHERE import_id = ?1 ORDER BY position LIMIT ?2)",
        )?
        .execute((import.0, row::limit(ROWS_AT_ONCE)))?;
    if removed == 0 {
        connection
            .prepare_cached("DELETE FROM imports WHERE id = ?1")?
            .execute([import.0])?;
    }
    Ok(removed > 0)
}
