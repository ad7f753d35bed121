//! The keys of the latest taps, in memory: a payload mostly follows its tap within a second, and
//! then needs no read of the database.
//!
//! Only the writer adds and removes keys. An update removes the key that it consumes. SQLite
//! reports each changed interaction, whatever changed it, and its key is removed, so that it is
//! read from the database again. A rollback removes the keys of its transaction, because their ids
//! are used again, and the same keys may get other ids.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::Action;

use super::fold::Folded;
use domain::clock::{Millis, Timestamp};
use domain::id::InteractionId;
use domain::interaction::{KeyedInteraction, NewInteraction, Recorded};
use domain::rolling_key::{IssuedKey, KeyHash};

/// Most keys that are kept, each in about 300 bytes: those of 13 seconds at 10,000 taps per second.
const KEPT: i64 = 131_072;
/// Parts, each with a lock. Keys with consecutive ids are in different ones.
const PARTS: i64 = 64;

/// Keys that no update has consumed.
pub(super) struct RecentKeys {
    keys: Ring,
    /// The highest id that was added.
    newest: AtomicI64,
}

/// The hash of a key, and its interaction.
type Noted = Arc<(KeyHash, KeyedInteraction)>;

/// The keys with the latest ids. Ids follow each other, so a key has the place of the one that came
/// [`KEPT`] ids before, and the writer walks through the places instead of jumping through a table.
struct Ring(Vec<Mutex<Vec<Option<Noted>>>>);

impl Ring {
    fn new() -> Self {
        Self((0..PARTS).map(|_| Mutex::default()).collect())
    }

    /// The part of a key, and its place there.
    fn place(&self, id: i64) -> (MutexGuard<'_, Vec<Option<Noted>>>, usize) {
        let place = id.rem_euclid(KEPT);
        // Both are positive and small.
        let index = |number: i64| usize::try_from(number).unwrap_or_default();
        let part = &self.0[index(place % PARTS)];
        let part = part.lock().unwrap_or_else(PoisonError::into_inner);
        (part, index(place / PARTS))
    }

    fn insert(&self, id: i64, noted: Noted) {
        let (mut part, place) = self.place(id);
        if part.len() <= place {
            part.resize(place + 1, None);
        }
        let former = part[place].replace(noted);
        // Freed without the lock.
        drop(part);
        drop(former);
    }

    fn remove(&self, id: i64) {
        let (mut part, place) = self.place(id);
        if let Some(found) = part.get_mut(place) {
            drop(found.take_if(|noted| noted.1.id.get() == id));
        }
    }

    fn get(&self, id: i64) -> Option<Noted> {
        let (part, place) = self.place(id);
        let found = part.get(place)?.as_ref();
        found.filter(|noted| noted.1.id.get() == id).cloned()
    }
}

impl RecentKeys {
    /// An empty collection. From now on, a key is removed when its row changes through
    /// `connection`, which must be the writing one. `folded` shows which interactions are
    /// committed.
    pub(super) fn of(connection: &Connection, folded: &Folded) -> rusqlite::Result<Arc<Self>> {
        let keys = Arc::new(Self {
            keys: Ring::new(),
            newest: AtomicI64::new(0),
        });
        let watched = Arc::clone(&keys);
        connection.update_hook(Some(move |action, _: &str, table: &str, row| {
            if table == "interactions" && action != Action::SQLITE_INSERT {
                watched.keys.remove(row);
            }
        }))?;
        let (watched, folded) = (Arc::clone(&keys), folded.clone());
        connection.rollback_hook(Some(move || {
            let committed = folded.highest();
            for id in committed + 1..=watched.newest.load(Ordering::Relaxed) {
                watched.keys.remove(id);
            }
            watched.newest.store(committed, Ordering::Relaxed);
        }))?;
        Ok(keys)
    }

    /// Adds the key of a tap that was `recorded`, if it has one.
    pub(super) fn note(&self, tap: &NewInteraction, recorded: &Recorded) {
        let Some((key, tag_id)) = tap.key.zip(tap.tag_id) else {
            return;
        };
        let interaction = KeyedInteraction {
            id: recorded.id,
            at: recorded.at,
            tag_id,
            inlay_id: tap.claim.inlay_id(),
            verdict: recorded.verdict,
            tech: tap.tech,
            experience: tap.experience,
            country: tap.country.clone(),
            group: tap.traits.group,
            returning: recorded.returning,
            tamper: tap.tamper,
            simulated: tap.simulated,
            url_digest: key.url_digest,
            read_at: recorded.at,
        };
        self.newest.store(recorded.id.get(), Ordering::Relaxed);
        self.keys
            .insert(recorded.id.get(), Arc::new((key.hash, interaction)));
    }

    /// Removes a key that is being consumed.
    pub(super) fn forget(&self, id: InteractionId) {
        self.keys.remove(id.get());
    }

    /// A key and its interaction as of `now`; simulated time is ahead by `simulated_offset`.
    /// `None` proves nothing: the caller must ask the database.
    pub(super) fn get(
        &self,
        id: InteractionId,
        now: Timestamp,
        simulated_offset: Millis,
    ) -> Option<(IssuedKey, KeyedInteraction)> {
        let noted = self.keys.get(id.get())?;
        let (hash, interaction) = &*noted;
        let offset = if interaction.simulated {
            simulated_offset
        } else {
            Millis::ZERO
        };
        let interaction = KeyedInteraction {
            read_at: now.plus(offset),
            ..interaction.clone()
        };
        let key = IssuedKey {
            hash: *hash,
            issued_at: interaction.at,
            consumed: None,
        };
        Some((key, interaction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::fold::Folding;
    use crate::sqlite::in_memory;
    use domain::id::TagId;
    use domain::interaction::{
        Claim, Client, KnownAt, NewKey, Returning, Tech, Unchecked, Verdict,
    };

    const ID: InteractionId = InteractionId::new(7);
    const NOW: Timestamp = Timestamp::from_millis(5_000);

    fn noted(keys: &RecentKeys) {
        noted_as(keys, ID);
    }

    fn noted_as(keys: &RecentKeys, id: InteractionId) {
        let tap = NewInteraction {
            key: Some(NewKey {
                hash: KeyHash([1; 16]),
                url_digest: [2; 8],
            }),
            country: "DE".to_owned(),
            simulated: true,
            ..NewInteraction::new(
                KnownAt::Tag(TagId::new(1)),
                Client([3; 16]),
                Claim::Decided(Verdict::NotChecked(Unchecked::NoCode)),
                Tech::Qr,
            )
        };
        let recorded = Recorded {
            id,
            at: Timestamp::from_millis(4_000),
            verdict: Verdict::NotChecked(Unchecked::NoCode),
            returning: Returning::default(),
        };
        keys.note(&tap, &recorded);
    }

    #[test]
    fn a_key_is_forgotten_once_its_tap_is_written_or_it_is_consumed() {
        let connection = in_memory();
        let keys = RecentKeys::of(&connection, &Folded::default()).unwrap();
        let row = "INSERT INTO interactions (id, at, tag_id, reason, tech, client, country,
                 returning_month, returning_day, key_issued, simulated)
             VALUES (7, 4000, 1, 'static', 'u', x'03', 'DE', 0, 0, 1, 1)";
        connection.execute(row, []).unwrap();
        for change in [
            "UPDATE interactions SET country = ''",
            "DELETE FROM interactions WHERE id < 10",
        ] {
            noted(&keys);
            let (key, interaction) = keys.get(ID, NOW, Millis::new(500)).unwrap();
            assert_eq!(key.hash, KeyHash([1; 16]));
            assert_eq!(interaction.read_at, NOW.plus(Millis::new(500)));
            connection.execute(change, []).unwrap();
            assert!(keys.get(ID, NOW, Millis::new(500)).is_none(), "{change}");
        }
        noted(&keys);
        keys.forget(ID);
        assert!(keys.get(ID, NOW, Millis::new(500)).is_none());
    }

    #[test]
    fn a_key_takes_the_place_of_one_long_before_it_and_of_no_other() {
        let keys = RecentKeys::of(&in_memory(), &Folded::default()).unwrap();
        let has = |id| {
            keys.get(InteractionId::new(id), NOW, Millis::ZERO)
                .is_some()
        };
        for id in ID.get()..ID.get() + 2 * PARTS {
            noted_as(&keys, InteractionId::new(id));
        }
        let late = ID.get() + KEPT;
        assert!(!has(late));
        // The place is that of an earlier key, which stays.
        keys.forget(InteractionId::new(late));
        assert!(has(ID.get()));
        noted_as(&keys, InteractionId::new(late));
        let kept: Vec<_> = (1..late + 2).filter(|id| has(*id)).collect();
        let expected = (ID.get() + 1..ID.get() + 2 * PARTS).chain([late]);
        assert_eq!(kept, expected.collect::<Vec<_>>());
    }

    #[test]
    fn of_a_transaction_that_is_rolled_back_no_key_is_left_and_those_before_it_are() {
        let connection = Connection::open_in_memory().unwrap();
        let folded = Folded::default();
        let keys = RecentKeys::of(&connection, &folded).unwrap();
        let run = |sql| connection.execute_batch(sql).unwrap();
        run("BEGIN IMMEDIATE; CREATE TABLE t (n)");
        noted(&keys);
        run("ROLLBACK");
        assert!(keys.get(ID, NOW, Millis::ZERO).is_none());

        run("BEGIN IMMEDIATE; CREATE TABLE t (n)");
        let mut folding = Folding::new(&connection, &folded);
        while folding.next() < ID {}
        noted(&keys);
        run("COMMIT");
        folded.publish(folding.into_changes());
        run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK");
        assert!(keys.get(ID, NOW, Millis::ZERO).is_some());
    }
}
