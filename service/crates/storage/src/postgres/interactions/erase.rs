//! Erases a tag's personal data, in steps so small that taps do not notice them.

use super::history::walk;
use crate::interactions::row_of;
use crate::postgres::row;
use crate::postgres::transaction::Write;
use crate::shared::dialect::Dialect;
use crate::{StorageError, erasure};
use domain::id::{InteractionId, TagId};

/// Rows erased in one step.
const BATCH: usize = 1_000;

/// Marks the variables of the tag $1 that still have a value of the updates $2.
const MARK_WRITTEN: &str = "UPDATE properties p SET erased = TRUE
     FROM updates u CROSS JOIN LATERAL json_array_elements(u.changes::JSON) AS change
     WHERE u.interaction_id = ANY ($2) AND p.tag_id = $1 AND p.class = 'variable'
         AND p.key = change ->> 'key' AND p.value = change ->> 'new' AND p.value <> ''";

/// Marks the variables of the tag $1 that still have a value of a form: the form may be older than
/// any update that is kept.
const MARK_SENT: &str = "UPDATE properties p SET erased = TRUE
     FROM submissions s CROSS JOIN LATERAL json_array_elements(s.fields::JSON) AS field
     WHERE s.tag_id = $1 AND p.tag_id = $1 AND p.class = 'variable'
         AND p.key = field ->> 'variable' AND p.value = field ->> 'value' AND p.value <> ''";

/// Locks a tag's variables in the same order as updates do, so that they cannot deadlock.
async fn lock_variables(write: &Write, tag: i64) -> Result<(), StorageError> {
    let sql =
        "SELECT FROM properties WHERE tag_id = $1 AND class = 'variable' ORDER BY key FOR UPDATE";
    write.run(sql, &[&tag]).await.map(drop)
}

pub(super) async fn visitors(
    write: &Write,
    tag: Option<TagId>,
) -> Result<Option<bool>, StorageError> {
    if let Some(tag) = tag {
        let exists = write
            .row("SELECT FROM tags WHERE id = $1", &[&tag.get()])
            .await?;
        if exists.is_none() {
            return Ok(None);
        }
    }
    let tag = row_of(tag);
    write.run(erasure::ERASED, &[]).await?;
    lock_variables(write, tag).await?;
    write.run(MARK_SENT, &[&tag]).await?;
    for sql in erasure::OF_TAG {
        write.run(&Dialect::Postgres.say(sql), &[&tag]).await?;
    }
    // The row of the empty client has the tag's counts, so it stays. Lock it first, as taps do.
    write
        .run(
            "SELECT FROM visits WHERE tag_id = $1 AND client = '' FOR UPDATE",
            &[&tag],
        )
        .await?;
    let removed = write
        .run(
            "DELETE FROM visits WHERE tag_id = $1 AND client IN
                (SELECT client FROM visits WHERE tag_id = $1 AND client <> '' LIMIT $2)",
            &[&tag, &row::limit(BATCH)],
        )
        .await?;
    Ok(Some(removed == BATCH as u64))
}

pub(super) async fn history(
    write: &Write,
    tag: Option<TagId>,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let mut ids = Vec::with_capacity(BATCH);
    let mut next = None;
    let tag = row_of(tag);
    walk(write, Some(tag), from, 0, None, |interaction, _| {
        if ids.len() == BATCH {
            next = Some(interaction.id);
            return false;
        }
        ids.push(interaction.id.get());
        true
    })
    .await?;
    lock_variables(write, tag).await?;
    write.run(MARK_WRITTEN, &[&tag, &ids]).await?;
    for sql in erasure::clearing() {
        write.run(&format!("{sql} = ANY ($1)"), &[&ids]).await?;
    }
    Ok(next)
}
