//! Erasing a tag's personal traces, in steps small enough not to be felt by a tap.

use super::history::walk;
use crate::id::{InteractionId, TagId};
use crate::storage::interactions::NO_TAG;
use crate::storage::plane::dialect::Dialect;
use crate::storage::postgres::row;
use crate::storage::postgres::transaction::Write;
use crate::storage::{StorageError, traces};

/// Rows erased in one step.
const BATCH: usize = 1_000;

pub(super) async fn visitors(
    write: &Write,
    tag: Option<TagId>,
) -> Result<Option<bool>, StorageError> {
    if let Some(tag) = tag {
        let exists = write
            .row("SELECT FROM tags WHERE id = $1", &[&tag.0])
            .await?;
        if exists.is_none() {
            return Ok(None);
        }
    }
    let tag = tag.unwrap_or(NO_TAG);
    write.run(traces::ERASED, &[]).await?;
    for sql in traces::OF_TAG {
        write.run(&Dialect::Postgres.say(sql), &[&tag.0]).await?;
    }
    // The row of the empty client stands for all: the tag's counts. Taps lock it
    // first, and so does this.
    write
        .run(
            "SELECT FROM visits WHERE tag_id = $1 AND client = '' FOR UPDATE",
            &[&tag.0],
        )
        .await?;
    let removed = write
        .run(
            "DELETE FROM visits WHERE tag_id = $1 AND client IN
                (SELECT client FROM visits WHERE tag_id = $1 AND client <> '' LIMIT $2)",
            &[&tag.0, &row::limit(BATCH)],
        )
        .await?;
    Ok(Some(removed == BATCH as u64))
}

pub(super) async fn history(
    write: &Write,
    tag: TagId,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let mut ids = Vec::with_capacity(BATCH);
    let mut next = None;
    walk(write, Some(tag), from, 0, |interaction| {
        if ids.len() == BATCH {
            next = Some(interaction.id);
            return false;
        }
        ids.push(interaction.id.0);
        true
    })
    .await?;
    for sql in traces::clearing() {
        write.run(&format!("{sql} = ANY ($1)"), &[&ids]).await?;
    }
    Ok(next)
}
