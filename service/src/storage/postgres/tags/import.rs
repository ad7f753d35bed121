//! Rows of a table of tags: one transaction.
//!
//! Each row that may break a rule half-way runs inside a savepoint of its own,
//! so that it leaves nothing behind. A dry run is the same, rolled back.

use std::sync::Arc;

use super::save::{self, Taken};
use crate::inventory::{InlayFields, NewInlay};
use crate::storage::postgres::inlays;
use crate::storage::postgres::transaction::Write;
use crate::storage::{Conflict, ImportHow, ImportRow, Imported, Keep, Put, StorageError};
use crate::tag::TagFields;

/// Stores the rows, or says what would become of them.
pub(super) async fn rows(
    write: &mut Write,
    rows: &[Arc<ImportRow>],
    how: ImportHow,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    write.batch("SAVEPOINT whole").await?;
    let mut results = Vec::with_capacity(rows.len());
    for import in rows {
        write.batch("SAVEPOINT one").await?;
        match row(write, import, how.upsert).await {
            Ok(imported) => {
                write.batch("RELEASE one").await?;
                results.push(Ok(imported));
            }
            Err(StorageError::Conflict(conflict)) => {
                write.batch("ROLLBACK TO one; RELEASE one").await?;
                results.push(Err(conflict));
            }
            Err(error) => return Err(error),
        }
    }
    let keeps = match how.keep {
        Keep::Good => true,
        Keep::AllOrNone => results.iter().all(Result::is_ok),
        Keep::Nothing => false,
    };
    if !keeps {
        write.batch("ROLLBACK TO whole").await?;
    }
    Ok(results)
}

async fn row(write: &mut Write, row: &ImportRow, upsert: bool) -> Result<Imported, StorageError> {
    let owner = match &row.slug {
        Some(slug) => {
            let owners = save::owners(write, &[slug.as_str()]).await?;
            owners.into_values().next().map(|owner| (owner, slug))
        }
        None => None,
    };
    let (tag, slug, put) = match owner {
        None => {
            let fields = (row.edit)(TagFields::named(String::new()))?;
            let tag = save::insert(write, &fields, false).await??;
            (tag, fields.slug, Put::New)
        }
        Some((owner, slug)) => {
            let id = owner.tag;
            let before = save::locked(write, id).await?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| owner.refuses(slug))?;
            let after = row.edit_of(before.fields.clone(), owner.former)?;
            Taken::look(write, [&after].into_iter())
                .await?
                .take(&after, Some(id))?;
            save::update_row(write, id, &before.fields, &after).await?;
            (id, after.slug, Put::Set)
        }
    };
    let inlay = match &row.inlay {
        None => None,
        Some(inlay) => {
            let inlay = NewInlay {
                fields: InlayFields {
                    tag_id: Some(tag),
                    ..inlay.fields.clone()
                },
                ..inlay.clone()
            };
            Some(inlays::insert(write, &inlay).await?)
        }
    };
    Ok(Imported {
        tag,
        slug,
        put,
        inlay,
    })
}
