//! Housekeeping, in steps small enough not to be felt by a tap.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::fold::Visitor;
use super::writer::Write;
use crate::clock::Timestamp;
use crate::id::TagId;
use crate::interaction::{ClientId, RecordedReads, RecordedRefusal};
use crate::storage::{StorageError, Swept, traces};

/// Rows removed of one kind in one round, and visitors looked at.
const BATCH: usize = 2_000;
/// How long a visitor's identity is kept, in milliseconds (decisions, "Payload retrieval").
const VISITORS_KEPT: i64 = 30 * 24 * 60 * 60 * 1000;

/// The row of `settings` that holds the highest id of a removed interaction,
/// if none that is left is higher: no id is given twice.
pub(super) const HIGHEST_REMOVED: &str = "highest_removed";

/// The visitor after whom the next round looks for old ones; `None`: from the first on.
#[derive(Default)]
pub(super) struct Position(Mutex<Option<Visitor>>);

/// One round.
pub(super) fn run(
    write: &mut Write<'_>,
    keep_since: Timestamp,
    reads: &[(i64, RecordedReads)],
    position: &Position,
) -> Result<Swept, StorageError> {
    store_payload_reads(write, reads)?;
    let kept_since = write.now.plus_millis(-VISITORS_KEPT);
    let interactions = remove_interactions(write, keep_since)?;
    let visits = forget_visitors(write, position, kept_since)?;
    Ok(Swept {
        interactions: interactions as u64,
        visits: visits as u64,
        more: interactions == BATCH,
    })
}

/// Looks at some visitors, and removes those who did not come since `since`, from memory, too. They
/// are found by their tag: an index on time would cost every tap a page.
fn forget_visitors(
    write: &mut Write<'_>,
    position: &Position,
    since: Timestamp,
) -> Result<usize, StorageError> {
    let mut position = position.0.lock().unwrap_or_else(PoisonError::into_inner);
    let connection = write.connection;
    let mut next = connection.prepare_cached(
        "SELECT tag_id, client, last_at FROM visits WHERE (tag_id, client) > (?1, ?2)
         ORDER BY tag_id, client LIMIT ?3",
    )?;
    let (tag, client) = match &*position {
        Some(visitor) => (visitor.tag().0, visitor.client_bytes()),
        None => (i64::MIN, &[][..]),
    };
    let found = next.query_map((tag, client, BATCH), |row| {
        let (tag, client): (_, Vec<u8>) = (row.get(0).map(TagId)?, row.get(1)?);
        // All clients together have the empty one.
        let visitor = match client.try_into() {
            Ok(client) => Visitor::client(tag, ClientId(client)),
            Err(_) => Visitor::everyone(tag),
        };
        Ok((visitor, row.get(2).map(Timestamp::from_millis)?))
    })?;
    let found = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let last = found.last().map(|(visitor, _)| *visitor);
    let last = last.filter(|_| found.len() == BATCH);
    write.fold.forget_old_clients(*position, last, since, BATCH);
    let mut remove =
        connection.prepare_cached("DELETE FROM visits WHERE tag_id = ?1 AND client = ?2")?;
    let old = found.into_iter();
    let old = old.filter(|(visitor, last_at)| !visitor.is_everyone() && *last_at < since);
    let mut removed = 0;
    for (visitor, _) in old {
        removed += remove.execute((visitor.tag().0, visitor.client_bytes()))?;
        write.fold.forget_if_before(visitor, since);
    }
    *position = last;
    Ok(removed)
}

/// Whether interactions are to be removed next whose counts are in memory alone. They must be
/// folded before.
pub(super) fn removes_unfolded(
    write: &Write<'_>,
    keep_since: Timestamp,
) -> Result<bool, StorageError> {
    let due = due(write, keep_since)?;
    Ok(due.iter().any(|id| !write.fold.is_folded(*id)))
}

/// The next interactions of before `keep_since`.
fn due(write: &Write<'_>, keep_since: Timestamp) -> Result<Vec<i64>, StorageError> {
    let due = write
        .connection
        .prepare_cached("SELECT id FROM interactions WHERE at < ?1 ORDER BY at, id LIMIT ?2")?
        .query_map((keep_since.millis(), BATCH), |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    Ok(due)
}

/// Removes interactions of before `keep_since`, and what is told of them.
fn remove_interactions(write: &Write<'_>, keep_since: Timestamp) -> Result<usize, StorageError> {
    let connection = write.connection;
    let mut due = due(write, keep_since)?;
    due.retain(|id| write.fold.is_folded(*id));
    let Some(highest) = due.iter().copied().max() else {
        return Ok(0);
    };
    let interaction = "DELETE FROM interactions WHERE id".to_owned();
    for sql in std::iter::once(interaction).chain(traces::removing_told()) {
        let mut remove = connection.prepare_cached(&format!("{sql} = ?1"))?;
        for id in &due {
            remove.execute([id])?;
        }
    }
    let left: Option<i64> = connection
        .prepare_cached("SELECT max(id) FROM interactions")?
        .query_row([], |row| row.get(0))?;
    if left.is_none_or(|left| left < highest) {
        note_highest_removed(connection, highest)?;
    }
    Ok(due.len())
}

/// Notes that ids up to `highest` were given.
pub(super) fn note_highest_removed(connection: &Connection, highest: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE
             SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
        )?
        .execute((HIGHEST_REMOVED, highest.to_string()))?;
    Ok(())
}

/// Adds noted payload reads to those that are stored.
pub(super) fn store_payload_reads(
    write: &mut Write<'_>,
    reads: &[(i64, RecordedReads)],
) -> Result<(), StorageError> {
    let mut add = write.connection.prepare_cached(
        "INSERT INTO payload_reads (interaction_id, first_at, reads) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET reads = reads + excluded.reads",
    )?;
    for (id, read) in reads {
        add.execute((id, read.first_at.millis(), read.reads))?;
    }
    Ok(())
}

/// Stores noted refusals, each in the place of an earlier one of its interaction.
pub(super) fn store_refused_updates(
    write: &mut Write<'_>,
    refusals: &[(i64, RecordedRefusal)],
) -> Result<(), StorageError> {
    let mut store = write.connection.prepare_cached(
        "INSERT OR REPLACE INTO refused_updates (interaction_id, at, fault, variable) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (id, refusal) in refusals {
        store.execute((
            id,
            refusal.at.millis(),
            refusal.fault.as_str(),
            &refusal.variable,
        ))?;
    }
    Ok(())
}
