//! Rows of a table of tags: one transaction.
//!
//! Each row that may break a rule half-way runs inside a savepoint of its own,
//! so that it leaves nothing behind.

use std::sync::Arc;

use super::save::{self, Taken};
use crate::storage::postgres::inlays;
use crate::storage::postgres::transaction::Write;
use crate::storage::tags::SlugOwner;
use crate::storage::{Conflict, ImportRow, Imported, Put, StorageError};
use crate::tag::deleted;

/// Stores the rows that break no rule.
pub(super) async fn rows(
    write: &mut Write,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let mut results = Vec::with_capacity(rows.len());
    for import in rows {
        write.batch("SAVEPOINT one").await?;
        match row(write, import, upsert).await {
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
    Ok(results)
}

async fn row(write: &mut Write, row: &ImportRow, upsert: bool) -> Result<Imported, StorageError> {
    let (tag, slug, put, deleted) = match owner(write, row).await? {
        None => {
            let fields = row.create()?;
            let tag = save::insert(write, &fields, false).await??;
            (tag, fields.slug, Put::New, Vec::new())
        }
        Some(owner) => {
            let id = owner.tag;
            let before = save::locked(write, id).await?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| owner.refuses(&row.slug))?.fields;
            let after = row.change(&before)?;
            Taken::look(write, [&after].into_iter())
                .await?
                .take(&after, Some(id))?;
            save::update_row(write, id, &before, &after).await?;
            (id, after.slug.clone(), Put::Set, deleted(&before, &after))
        }
    };
    let inlay = match row.inlay_on(tag) {
        None => None,
        Some(inlay) => Some(inlays::insert(write, &inlay).await?),
    };
    Ok(Imported {
        tag,
        slug,
        put,
        inlay,
        deleted,
    })
}

/// Whose slug a row names.
async fn owner(write: &Write, row: &ImportRow) -> Result<Option<SlugOwner>, StorageError> {
    if !row.named {
        return Ok(None);
    }
    let owners = save::owners(write, &[row.slug.as_str()]).await?;
    Ok(owners.into_values().next())
}
