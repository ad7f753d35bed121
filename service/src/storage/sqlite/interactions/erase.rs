//! Erasing a tag's personal traces, in steps small enough not to be felt by a tap.

use rusqlite::Connection;

use super::tag_history;
use crate::id::{InteractionId, TagId};
use crate::interaction::ClientId;
use crate::storage::interactions::NO_TAG;
use crate::storage::sqlite::fold::{Visit, Visitor};
use crate::storage::sqlite::writer::Write;
use crate::storage::{StorageError, traces};

/// Rows erased in one step.
const BATCH: usize = 1_000;

pub(super) fn visitors(
    write: &mut Write<'_>,
    tag: Option<TagId>,
) -> Result<Option<bool>, StorageError> {
    let connection = write.connection;
    if let Some(tag) = tag {
        let mut find = connection.prepare_cached("SELECT 1 FROM tags WHERE id = ?1")?;
        if !find.exists([tag.0])? {
            return Ok(None);
        }
    }
    let tag = tag.unwrap_or(NO_TAG);
    connection.prepare_cached(traces::ERASED)?.execute([])?;
    for sql in traces::OF_TAG {
        connection.prepare_cached(sql)?.execute([tag.0])?;
    }
    // The row of the empty client stands for all: the tag's counts.
    let mut remove = connection.prepare_cached(
        "DELETE FROM visits WHERE tag_id = ?1 AND client IN
            (SELECT client FROM visits WHERE tag_id = ?1 AND client <> x'' LIMIT ?2)
         RETURNING client",
    )?;
    let limit = crate::storage::sqlite::row::limit(BATCH);
    let removed = remove.query_map((tag.0, limit), |row| row.get(0).map(ClientId))?;
    let removed = removed.collect::<rusqlite::Result<Vec<_>>>()?;
    for client in &removed {
        write.fold.forget(Visitor::client(tag, *client));
    }
    let unfolded = write.fold.forget_unfolded_clients(tag, BATCH);
    Ok(Some(removed.len() == BATCH || unfolded == BATCH))
}

/// Erases a stretch of what `tag_history` hands over.
pub(super) fn newest_history(
    write: &mut Write<'_>,
    tag: TagId,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let newest: Option<Visit> = write.fold.get(Visitor::everyone(tag))?;
    let newest = newest.map(|visit| visit.last_interaction);
    history(write.connection, tag, from.or(newest))
}

pub(super) fn history(
    connection: &Connection,
    tag: TagId,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let mut ids = Vec::with_capacity(BATCH);
    let mut next = None;
    tag_history(connection, tag, from, |interaction| {
        if ids.len() == BATCH {
            next = Some(interaction.id);
            return false;
        }
        ids.push(interaction.id.0);
        true
    })?;
    for sql in traces::clearing() {
        let mut clear = connection.prepare_cached(&format!("{sql} = ?1"))?;
        for id in &ids {
            clear.execute([id])?;
        }
    }
    Ok(next)
}
