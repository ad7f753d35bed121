//! Housekeeping, in steps so small that taps do not notice them.

use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _};

use super::fold::Visitor;
use super::writer::Write;
use crate::interactions::tag_of;
use crate::{StorageError, Swept, erasure};
use domain::clock::Timestamp;
use domain::experience::LedBy;
use domain::interaction::{ClientId, RecordedReads, RecordedRefusal};

/// Rows of one kind removed in one round, and visitors examined.
const BATCH: usize = 2_000;

/// The row of `settings` with the highest id of a removed interaction, if no remaining id is
/// higher: no id may be used twice.
pub(super) const HIGHEST_REMOVED: &str = "highest_removed";

/// The visitor after whom the next round looks for old ones; `None` starts with the first one.
#[derive(Default)]
pub(super) struct Position(Mutex<Option<Visitor>>);

/// Runs one round of housekeeping.
pub(super) fn run(
    write: &mut Write<'_>,
    keep_since: Timestamp,
    reads: &[(i64, RecordedReads)],
    position: &Position,
) -> Result<Swept, StorageError> {
    store_payload_reads(write, reads)?;
    let kept_since = write.now.minus(erasure::CLIENTS_KEPT);
    let interactions = remove_interactions(write, keep_since)?;
    let clients = erase_clients(write.connection, kept_since)?;
    let visits = forget_visitors(write, position, kept_since)?;
    Ok(Swept {
        interactions: interactions as u64,
        visits: visits as u64,
        more: interactions == BATCH || clients == BATCH,
    })
}

/// Erases the clients of some interactions older than `since`. They are found in the order of their
/// times, after those whose clients are erased already.
fn erase_clients(connection: &Connection, since: Timestamp) -> Result<usize, StorageError> {
    let mark: Option<i64> = connection
        .prepare_cached(erasure::CLIENTS_ERASED_TO)?
        .query_row([], |row| row.get(0))
        .optional()?;
    // A clock that goes back moves the mark back, too: later interactions would be behind it.
    let mark = mark.unwrap_or(i64::MIN).min(since.millis());
    let due = connection
        .prepare_cached(
            "SELECT id, at FROM interactions WHERE at >= ?1 AND at < ?2 AND client IS NOT NULL
             ORDER BY at, id LIMIT ?3",
        )?
        .query_map((mark, since.millis(), BATCH), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    let mut erase =
        connection.prepare_cached("UPDATE interactions SET client = NULL WHERE id = ?1")?;
    for (id, _) in &due {
        erase.execute([id])?;
    }
    let reached = match due.last() {
        Some((_, at)) if due.len() == BATCH => *at,
        _ => since.millis(),
    };
    if !due.is_empty() || reached.saturating_sub(mark) > erasure::CLIENTS_LAG.get() {
        connection
            .prepare_cached(erasure::SET_CLIENTS_ERASED_TO)?
            .execute([reached])?;
    }
    Ok(due.len())
}

/// Examines some visitors, and removes those without a tap since `since`, from memory, too. They
/// are walked by tag, because an index on time would cost every tap a page.
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
        Some(visitor) => (visitor.tag_row(), visitor.client_bytes()),
        None => (i64::MIN, &[][..]),
    };
    let found = next.query_map((tag, client, BATCH), |row| {
        let (tag, client): (_, Vec<u8>) = (tag_of(row.get(0)?), row.get(1)?);
        // The row for all clients together has the empty client.
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
        removed += remove.execute((visitor.tag_row(), visitor.client_bytes()))?;
        write.fold.forget_if_before(visitor, since);
    }
    *position = last;
    Ok(removed)
}

/// Whether the next interactions to remove have counts that are only in memory. Those must be
/// folded first.
pub(super) fn removes_unfolded(
    write: &Write<'_>,
    keep_since: Timestamp,
) -> Result<bool, StorageError> {
    let due = due(write, keep_since)?;
    Ok(due.iter().any(|id| !write.fold.is_folded(*id)))
}

/// The next interactions older than `keep_since`.
fn due(write: &Write<'_>, keep_since: Timestamp) -> Result<Vec<i64>, StorageError> {
    let due = write
        .connection
        .prepare_cached("SELECT id FROM interactions WHERE at < ?1 ORDER BY at, id LIMIT ?2")?
        .query_map((keep_since.millis(), BATCH), |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    Ok(due)
}

/// Removes interactions older than `keep_since`, and the rows that belong to them.
fn remove_interactions(write: &Write<'_>, keep_since: Timestamp) -> Result<usize, StorageError> {
    let connection = write.connection;
    let mut due = due(write, keep_since)?;
    due.retain(|id| write.fold.is_folded(*id));
    let Some(highest) = due.iter().copied().max() else {
        return Ok(0);
    };
    let interaction = "DELETE FROM interactions WHERE id".to_owned();
    for sql in std::iter::once(interaction).chain(erasure::removing_events()) {
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

/// Notes that ids up to `highest` have been used.
pub(super) fn note_highest_removed(connection: &Connection, highest: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE
             SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
        )?
        .execute((HIGHEST_REMOVED, highest.to_string()))?;
    Ok(())
}

/// Adds payload reads from memory to the stored ones.
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

/// Stores refused updates from memory; each replaces an earlier one of its interaction.
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

/// Stores the redirect rules that taps followed. Rules of taps whose visitor was erased meanwhile
/// are dropped, because a rule can show a visitor's origin.
pub(super) fn store_rules(
    write: &mut Write<'_>,
    rules: &[(i64, LedBy)],
) -> Result<(), StorageError> {
    let mut store = write.connection.prepare_cached(
        "INSERT INTO left_out (interaction_id, macros, rule)
         SELECT id, '[]', ?2 FROM interactions WHERE id = ?1 AND client IS NOT NULL
         ON CONFLICT DO UPDATE SET rule = excluded.rule",
    )?;
    for (id, rule) in rules {
        store.execute((id, rule.number()))?;
    }
    Ok(())
}
