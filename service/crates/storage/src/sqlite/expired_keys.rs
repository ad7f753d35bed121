//! Rolling keys that are expired even if the clock goes back. Their hashes stay with their
//! interactions, so without this they would become valid again.

use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::{Connection, OptionalExtension as _};

use crate::StorageError;
use domain::clock::{Millis, Timestamp};
use domain::id::InteractionId;
use domain::rolling_key::LIFETIME;

/// The row of `expired_keys`, as stored on disk.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "each is named as its column")]
pub(super) struct ExpiredKeys {
    up_to: AtomicI64,
    simulated_up_to: AtomicI64,
    looked_to: AtomicI64,
}

/// The result of a round of housekeeping: keys up to this id are expired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expiry {
    up_to: i64,
    looked_to: i64,
}

impl ExpiredKeys {
    /// Loads the row at the start of the service. If the wall clock is behind the newest
    /// interaction, the age of keys is unknown, so all of them expire. Simulated time is ahead by
    /// `simulated_offset`, and proves nothing about other keys; if an interaction is dated in its
    /// future, all simulated keys expire.
    pub(super) fn at_start(
        connection: &Connection,
        now: Timestamp,
        simulated_offset: Millis,
    ) -> rusqlite::Result<Self> {
        let stored: (i64, i64, i64) = connection
            .query_row(
                "SELECT up_to, simulated_up_to, looked_to FROM expired_keys",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?
            .unwrap_or((0, 0, i64::MIN));
        let (mut up_to, mut simulated_up_to, looked_to) = stored;
        let newest: i64 =
            connection.query_row("SELECT coalesce(max(id), 0) FROM interactions", [], |row| {
                row.get(0)
            })?;
        // All keys up to the mark are expired already. So a history of only simulated taps is not
        // read to its beginning, but only back to the last housekeeping.
        let newest_real = connection
            .query_row(
                "SELECT at FROM interactions WHERE NOT simulated AND id > ?1 ORDER BY id DESC LIMIT 1",
                [up_to],
                |row| row.get(0).map(Timestamp::from_millis),
            )
            .optional()?;
        if let Some(newest_real) = newest_real.filter(|newest| *newest > now) {
            tracing::warn!(
                "the clock ({now}) is behind the newest interaction ({newest_real}): \
                 rolling keys issued before this start count as expired"
            );
            up_to = newest;
        }
        let ahead = connection
            .prepare("SELECT 1 FROM interactions WHERE at > ?1")?
            .exists([now.plus(simulated_offset).millis()])?;
        if ahead {
            simulated_up_to = newest;
        }
        // Later interactions may have an earlier date than those examined before.
        let looked_to = looked_to.min(expired_until(now).millis());
        // A start writes only if it must, so that it succeeds on a full disk.
        if stored != (up_to, simulated_up_to, looked_to) {
            store(connection, up_to, simulated_up_to, looked_to)?;
        }
        Ok(Self {
            up_to: AtomicI64::new(up_to),
            simulated_up_to: AtomicI64::new(simulated_up_to),
            looked_to: AtomicI64::new(looked_to),
        })
    }

    /// Whether the key of an interaction is expired, independently of the clock.
    pub(super) fn has(&self, id: InteractionId, simulated: bool) -> bool {
        let id = id.get();
        id <= self.up_to.load(Ordering::Acquire)
            || simulated && id <= self.simulated_up_to.load(Ordering::Acquire)
    }

    /// Finds the keys that have expired by `now` since the last look. `None` if there are none.
    ///
    /// An expired simulated interaction proves that earlier ones have expired, too, because
    /// simulated time is never behind.
    pub(super) fn look(
        &self,
        connection: &Connection,
        now: Timestamp,
    ) -> Result<Option<Expiry>, StorageError> {
        let looked_to = expired_until(now).millis();
        let before = self.looked_to.load(Ordering::Acquire);
        let newest: Option<i64> = connection
            .prepare_cached("SELECT max(id) FROM interactions WHERE at > ?1 AND at <= ?2")?
            .query_row((before, looked_to), |row| row.get(0))?;
        Ok(newest.map(|up_to| Expiry {
            up_to: up_to.max(self.up_to.load(Ordering::Acquire)),
            looked_to,
        }))
    }

    /// Stores the result of a look.
    pub(super) fn write(&self, connection: &Connection, found: Expiry) -> rusqlite::Result<()> {
        let simulated = self.simulated_up_to.load(Ordering::Acquire);
        store(connection, found.up_to, simulated, found.looked_to)
    }

    /// Puts the result of a look into effect, after it is on disk.
    pub(super) fn publish(&self, found: Expiry) {
        self.up_to.fetch_max(found.up_to, Ordering::AcqRel);
        self.looked_to.store(found.looked_to, Ordering::Release);
    }
}

/// The time up to which the keys of interactions have expired.
const fn expired_until(now: Timestamp) -> Timestamp {
    now.minus(LIFETIME)
}

fn store(
    connection: &Connection,
    up_to: i64,
    simulated_up_to: i64,
    looked_to: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO expired_keys (id, up_to, simulated_up_to, looked_to) VALUES (1, ?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET up_to = excluded.up_to,
                 simulated_up_to = excluded.simulated_up_to, looked_to = excluded.looked_to",
        )?
        .execute((up_to, simulated_up_to, looked_to))?;
    Ok(())
}

/// Expires all keys of a copy: a key that is consumed after this moment must not become valid again
/// by a restore.
pub(super) fn expire_all(connection: &Connection) -> rusqlite::Result<()> {
    let (newest, at): (Option<i64>, Option<i64>) =
        connection.query_row("SELECT max(id), max(at) FROM interactions", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    match newest.zip(at) {
        Some((newest, at)) => store(connection, newest, newest, at),
        None => Ok(()),
    }
}
