//! Housekeeping, in steps small enough not to be felt by a tap.

use std::sync::atomic::{AtomicI64, Ordering};

use super::writer::Write;
use crate::clock::Timestamp;
use crate::interaction::RecordedRefusal;
use crate::rolling_key::LIFETIME_MILLIS;
use crate::storage::StorageError;
use crate::storage::payload_reads::PayloadRead;

/// Rows removed of one kind in one round.
const BATCH: i64 = 2_000;
/// How long a visitor's identity is kept, in milliseconds (decisions, "Payload retrieval").
const VISITORS_KEPT: i64 = 30 * 24 * 60 * 60 * 1000;

/// One round; `true` where more is left to do.
pub(super) fn run(
    write: &mut Write<'_>,
    keep_since: Timestamp,
    reads: &[(i64, PayloadRead)],
    position: &AtomicI64,
) -> Result<bool, StorageError> {
    store_payload_reads(write, reads)?;
    let now = write.now;
    let keys = remove(
        write,
        "DELETE FROM rolling_keys WHERE interaction_id IN
            (SELECT interaction_id FROM rolling_keys ORDER BY interaction_id LIMIT ?2) AND issued_at <= ?1",
        now.plus_millis(-LIFETIME_MILLIS),
    )?;
    let interactions = remove(
        write,
        "DELETE FROM interactions WHERE id IN (SELECT id FROM interactions ORDER BY id LIMIT ?2) AND at < ?1",
        keep_since,
    )?;
    for table in ["updates", "refused_updates", "payload_reads", "left_out"] {
        write.connection.execute(
            &format!(
                "DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM interactions WHERE id <= {table}.interaction_id)
                 AND interaction_id IN (SELECT interaction_id FROM {table} ORDER BY interaction_id LIMIT ?1)"
            ),
            [BATCH],
        )?;
    }
    // Visitors are found by their tag, a stretch of tags a round: an index on
    // time would cost every tap a page.
    let first_tag = position.fetch_add(BATCH, Ordering::Relaxed);
    write
        .connection
        .prepare_cached("DELETE FROM visits WHERE tag_id >= ?1 AND tag_id < ?2 AND client <> x'' AND last_at < ?3")?
        .execute((first_tag, first_tag + BATCH, now.plus_millis(-VISITORS_KEPT).millis()))?;
    let last_tag: Option<i64> = write
        .connection
        .prepare_cached("SELECT max(tag_id) FROM visits")?
        .query_row([], |row| row.get(0))?;
    if last_tag.is_none_or(|last| last < first_tag + BATCH) {
        position.store(1, Ordering::Relaxed);
    }
    let most = usize::try_from(BATCH).unwrap_or(usize::MAX);
    Ok([keys, interactions].iter().any(|removed| *removed >= most))
}

fn remove(write: &Write<'_>, sql: &str, before: Timestamp) -> Result<usize, StorageError> {
    Ok(write
        .connection
        .prepare_cached(sql)?
        .execute((before.millis(), BATCH))?)
}

/// Adds noted payload reads to those that are stored.
pub(super) fn store_payload_reads(
    write: &mut Write<'_>,
    reads: &[(i64, PayloadRead)],
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
