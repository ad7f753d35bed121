//! Rows of a table of tags: one command of the writer.
//!
//! Each row runs inside a savepoint of its own, so that one which breaks a rule
//! half-way leaves nothing behind. A dry run is the same command, rolled back.

use std::sync::Arc;

use super::{former, save};
use crate::inventory::{InlayFields, NewInlay};
use crate::storage::sqlite::writer::Write;
use crate::storage::sqlite::{inlays, search};
use crate::storage::{Conflict, ImportHow, ImportRow, Imported, Keep, Put, StorageError};
use crate::tag::TagFields;

/// Stores the rows, or says what would become of them.
pub(super) fn rows(
    write: &mut Write<'_>,
    rows: &[Arc<ImportRow>],
    how: ImportHow,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let connection = write.connection;
    let run = |sql| connection.prepare_cached(sql)?.execute([]).map(drop);
    let newest = search::newest(connection)?;
    run("SAVEPOINT whole")?;
    let mut results = Vec::with_capacity(rows.len());
    for import in rows {
        run("SAVEPOINT one")?;
        match row(write, import, how.upsert) {
            Ok(imported) => results.push(Ok(imported)),
            Err(StorageError::Conflict(conflict)) => {
                run("ROLLBACK TO one")?;
                results.push(Err(conflict));
            }
            Err(error) => return Err(error),
        }
        run("RELEASE one")?;
    }
    let keeps = match how.keep {
        Keep::Good => true,
        Keep::AllOrNone => results.iter().all(Result::is_ok),
        Keep::Nothing => false,
    };
    if keeps {
        search::add_after(connection, newest)?;
        for imported in results.iter().flatten() {
            if imported.put == Put::Set {
                search::replace(connection, imported.tag)?;
            }
        }
    } else {
        run("ROLLBACK TO whole")?;
    }
    run("RELEASE whole")?;
    Ok(results)
}

fn row(write: &mut Write<'_>, row: &ImportRow, upsert: bool) -> Result<Imported, StorageError> {
    let owner = match &row.slug {
        Some(slug) => former::owner(write.connection, slug)?.map(|owner| (owner, slug)),
        None => None,
    };
    let (tag, slug, put) = match owner {
        None => {
            let fields = (row.edit)(TagFields::named(String::new()))?;
            let tag = save::insert_row(write, &fields, false)??;
            (tag, fields.slug, Put::New)
        }
        Some((owner, slug)) => {
            let id = owner.tag;
            let before = super::tag(write.connection, id)?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| owner.refuses(slug))?;
            let edit = |fields| row.edit_of(fields, owner.former);
            let after = save::edit_row(write, id, &before.fields, &edit)?;
            (id, after.slug, Put::Set)
        }
    };
    let inlay = row.inlay.as_ref().map(|inlay| NewInlay {
        fields: InlayFields {
            tag_id: Some(tag),
            ..inlay.fields.clone()
        },
        ..inlay.clone()
    });
    let inlay = inlay
        .map(|inlay| inlays::insert(write, &inlay))
        .transpose()?;
    Ok(Imported {
        tag,
        slug,
        put,
        inlay,
    })
}
