//! Rows of a table of tags: one command of the writer.
//!
//! Each row runs inside a savepoint of its own, so that one which breaks a rule
//! half-way leaves nothing behind.

use std::sync::Arc;

use super::save;
use crate::storage::sqlite::writer::Write;
use crate::storage::sqlite::{inlays, search};
use crate::storage::{Conflict, ImportRow, Imported, Put, StorageError};
use crate::tag::deleted;

/// Stores the rows that break no rule.
pub(super) fn rows(
    write: &mut Write<'_>,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let connection = write.connection;
    let run = |sql| connection.prepare_cached(sql)?.execute([]).map(drop);
    let newest = search::newest(connection)?;
    let mut results = Vec::with_capacity(rows.len());
    for import in rows {
        run("SAVEPOINT one")?;
        match row(write, import, upsert) {
            Ok(imported) => results.push(Ok(imported)),
            Err(StorageError::Conflict(conflict)) => {
                run("ROLLBACK TO one")?;
                results.push(Err(conflict));
            }
            Err(error) => return Err(error),
        }
        run("RELEASE one")?;
    }
    search::add_after(connection, newest)?;
    for imported in results.iter().flatten() {
        if imported.put == Put::Set {
            search::replace(connection, imported.tag)?;
        }
    }
    Ok(results)
}

fn row(write: &mut Write<'_>, row: &ImportRow, upsert: bool) -> Result<Imported, StorageError> {
    let (tag, slug, put, deleted) = match super::owner(write.connection, row)? {
        None => {
            let fields = row.create()?;
            let tag = save::insert_row(write, &fields, false)??;
            (tag, fields.slug, Put::New, Vec::new())
        }
        Some(owner) => {
            let id = owner.tag;
            let before = super::tag(write.connection, id)?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| owner.refuses(&row.slug))?.fields;
            let after = row.change(&before)?;
            save::check(write.connection, &after, Some(id))??;
            save::store_row(write, id, &before, &after)?;
            (id, after.slug.clone(), Put::Set, deleted(&before, &after))
        }
    };
    let inlay = row.inlay_on(tag);
    let inlay = inlay
        .map(|inlay| inlays::insert(write, &inlay))
        .transpose()?;
    Ok(Imported {
        tag,
        slug,
        put,
        inlay,
        deleted,
    })
}
