//! Housekeeping, in steps small enough not to be felt by a tap.

use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;

use super::fold::Visitor;
use super::writer::Write;
use crate::clock::Timestamp;
use crate::id::TagId;
use crate::interaction::{ClientId, RecordedReads, RecordedRefusal};
use crate::storage::interactions::NO_TAG;
use crate::storage::{StorageError, Swept, traces};

/// Rows removed of one kind in one round.
const BATCH: i64 = 2_000;
/// How long a visitor's identity is kept, in milliseconds (decisions, "Payload retrieval").
const VISITORS_KEPT: i64 = 30 * 24 * 60 * 60 * 1000;

/// The row of `settings` that holds the highest id of a removed interaction,
/// if none that is left is higher: no id is given twice.
pub(super) const HIGHEST_REMOVED: &str = "highest_removed";

/// One round.
pub(super) fn run(
    write: &mut Write<'_>,
    keep_since: Timestamp,
    reads: &[(i64, RecordedReads)],
    position: &AtomicI64,
) -> Result<Swept, StorageError> {
    store_payload_reads(write, reads)?;
    let now = write.now;
    let interactions = remove_interactions(write, keep_since)?;
    // Visitors are found by their tag, a stretch of tags a round: an index on
    // time would cost every tap a page.
    let first_tag = position.fetch_add(BATCH, Ordering::Relaxed);
    let kept_since = now.plus_millis(-VISITORS_KEPT);
    write
        .fold
        .forget_old_clients(first_tag..first_tag + BATCH, kept_since);
    let visits = remove_visitors(write, first_tag..first_tag + BATCH, kept_since)?;
    let last_tag: Option<i64> = write
        .connection
        .prepare_cached("SELECT max(tag_id) FROM visits")?
        .query_row([], |row| row.get(0))?;
    if last_tag.is_none_or(|last| last < first_tag + BATCH) {
        position.store(NO_TAG.0, Ordering::Relaxed);
    }
    let most = usize::try_from(BATCH).unwrap_or(usize::MAX);
    Ok(Swept {
        interactions: interactions as u64,
        visits: visits as u64,
        more: interactions == most,
    })
}

/// Removes visitors of some tags who did not come since `since`, from memory, too.
fn remove_visitors(
    write: &mut Write<'_>,
    tags: Range<i64>,
    since: Timestamp,
) -> Result<usize, StorageError> {
    let mut remove = write.connection.prepare_cached(
        "DELETE FROM visits WHERE tag_id >= ?1 AND tag_id < ?2 AND client <> x'' AND last_at < ?3
         RETURNING tag_id, client",
    )?;
    let removed = remove.query_map((tags.start, tags.end, since.millis()), |row| {
        let (tag, client) = (row.get(0).map(TagId)?, row.get(1).map(ClientId)?);
        Ok(Visitor::client(tag, client))
    })?;
    let removed = removed.collect::<rusqlite::Result<Vec<_>>>()?;
    for visitor in &removed {
        write.fold.forget_if_before(*visitor, since);
    }
    Ok(removed.len())
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
