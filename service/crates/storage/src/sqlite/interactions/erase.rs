//! Erases a tag's personal data, in steps so small that taps do not notice them.

use rusqlite::Connection;

use super::tag_history;
use crate::interactions::row_of;
use crate::sqlite::fold::{Visit, Visitor};
use crate::sqlite::writer::Write;
use crate::{StorageError, erasure};
use domain::id::{InteractionId, TagId};
use domain::interaction::ClientId;

/// Rows erased in one step.
const BATCH: usize = 1_000;

/// Marks the variables of the tag ?1 that still have a value of the update ?2.
const MARK_WRITTEN: &str = "UPDATE properties SET erased = TRUE FROM (
         SELECT json_extract(c.value, '$.key') AS name, json_extract(c.value, '$.new') AS new
         FROM updates u, json_each(u.changes) c WHERE u.interaction_id = ?2) AS entered
     WHERE tag_id = ?1 AND class = 'variable' AND key = entered.name
         AND value = entered.new AND value <> ''";

/// Marks the variables of the tag ?1 that still have a value of a form: the form may be older than
/// any update that is kept.
const MARK_SENT: &str = "UPDATE properties SET erased = TRUE FROM (
         SELECT json_extract(f.value, '$.variable') AS name, json_extract(f.value, '$.value') AS new
         FROM submissions s, json_each(s.fields) f WHERE s.tag_id = ?1) AS entered
     WHERE tag_id = ?1 AND class = 'variable' AND key = entered.name
         AND value = entered.new AND value <> ''";

pub(super) fn visitors(
    write: &mut Write<'_>,
    tag: Option<TagId>,
) -> Result<Option<bool>, StorageError> {
    let connection = write.connection;
    if let Some(tag) = tag {
        let mut find = connection.prepare_cached("SELECT 1 FROM tags WHERE id = ?1")?;
        if !find.exists([tag.get()])? {
            return Ok(None);
        }
    }
    let row = row_of(tag);
    connection.prepare_cached(erasure::ERASED)?.execute([])?;
    connection.prepare_cached(MARK_SENT)?.execute([row])?;
    for sql in erasure::OF_TAG {
        connection.prepare_cached(sql)?.execute([row])?;
    }
    // The row of the empty client has the tag's counts, so it stays.
    let mut remove = connection.prepare_cached(
        "DELETE FROM visits WHERE tag_id = ?1 AND client IN
            (SELECT client FROM visits WHERE tag_id = ?1 AND client <> x'' LIMIT ?2)
         RETURNING client",
    )?;
    let limit = crate::sqlite::row::limit(BATCH);
    let removed = remove.query_map((row, limit), |row| row.get(0).map(ClientId))?;
    let removed = removed.collect::<rusqlite::Result<Vec<_>>>()?;
    for client in &removed {
        write.fold.forget(Visitor::client(tag, *client));
    }
    let unfolded = write.fold.forget_unfolded_clients(tag, BATCH);
    Ok(Some(removed.len() == BATCH || unfolded == BATCH))
}

/// Erases a section of the history that `tag_history` passes on.
pub(super) fn newest_history(
    write: &mut Write<'_>,
    tag: Option<TagId>,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let newest: Option<Visit> = write.fold.get(Visitor::everyone(tag))?;
    let newest = newest.map(|visit| visit.last_interaction);
    history(write.connection, tag, from.or(newest))
}

pub(super) fn history(
    connection: &Connection,
    tag: Option<TagId>,
    from: Option<InteractionId>,
) -> Result<Option<InteractionId>, StorageError> {
    let mut ids = Vec::with_capacity(BATCH);
    let mut next = None;
    tag_history(connection, tag, from, |interaction| {
        if ids.len() == BATCH {
            next = Some(interaction.id);
            return false;
        }
        ids.push(interaction.id.get());
        true
    })?;
    let mut mark = connection.prepare_cached(MARK_WRITTEN)?;
    for id in &ids {
        mark.execute((row_of(tag), id))?;
    }
    for sql in erasure::clearing() {
        let mut clear = connection.prepare_cached(&format!("{sql} = ?1"))?;
        for id in &ids {
            clear.execute([id])?;
        }
    }
    Ok(next)
}
