//! Rows of a table of tags: one transaction.
//!
//! Each row that may break a rule half-way runs inside a savepoint of its own,
//! so that it leaves nothing behind.

use std::sync::Arc;

use super::save::{self, Taken};
use crate::id::TagId;
use crate::storage::postgres::inlays;
use crate::storage::postgres::row::column;
use crate::storage::postgres::transaction::Write;
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
        Some(id) => {
            let before = save::locked(write, id).await?;
            let before = before.filter(|tag| upsert && !tag.simulated);
            let before = before.ok_or_else(|| row.slug_taken())?.fields;
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

/// The tag that has the slug which a row names.
async fn owner(write: &Write, row: &ImportRow) -> Result<Option<TagId>, StorageError> {
    if !row.named {
        return Ok(None);
    }
    let sql = "SELECT id FROM tags WHERE slug = $1";
    let found = write.row(sql, &[&row.slug.as_str()]).await?;
    found.map(|found| column(&found, 0).map(TagId)).transpose()
}
