//! Counts events that happen too often within an hour: wrong codes of a chip with short codes,
//! because 32 bits can be guessed in hours; and repeated openings of one code.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use quick_cache::sync::Cache;

use domain::clock::{Millis, Timestamp};

/// Wrong codes after which a chip's codes are not checked. With 100 guesses an hour, finding one of
/// 2^32 codes takes thousands of years, and no visitor sends that many wrong codes.
pub(super) const WRONG_CODES: u32 = 100;
/// Openings of a used code after which its owner gets an alert that the URL was copied. A visitor
/// who goes back or shares a link with friends opens it less often.
pub(super) const OPENED_AGAIN: u32 = 10;
/// The period in which events are counted.
const WINDOW: Millis = Millis::hours(1);
/// The maximum number of keys that are counted.
const KEPT: usize = 10_000;

/// How often an event happened for each key, on this node.
pub(crate) struct Tally<K> {
    most: u32,
    seen: Cache<K, Seen>,
    /// Keys that reached the limit, and for which no alert was raised yet.
    reached: Mutex<Vec<K>>,
}

#[derive(Clone, Copy)]
struct Seen {
    since: Timestamp,
    times: u32,
}

impl<K: Copy + Eq + Hash> Tally<K> {
    /// A tally with the limit `most`.
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            seen: Cache::new(KEPT),
            reached: Mutex::default(),
        }
    }

    /// Whether the limit was reached.
    pub(crate) fn is_reached(&self, key: K, now: Timestamp) -> bool {
        self.counted(key, now)
            .is_some_and(|seen| seen.times >= self.most)
    }

    /// Counts an event of this key.
    pub(crate) fn note(&self, key: K, now: Timestamp) {
        let seen = self.counted(key, now).unwrap_or(Seen {
            since: now,
            times: 0,
        });
        let times = seen.times.saturating_add(1);
        self.seen.insert(key, Seen { times, ..seen });
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if times == self.most && reached.len() < KEPT {
            reached.push(key);
        }
    }

    /// Takes the keys that reached the limit since the last call.
    pub(crate) fn take_reached(&self) -> Vec<K> {
        std::mem::take(&mut *self.reached.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts back keys for which no alert could be raised.
    pub(crate) fn put_back(&self, keys: impl Iterator<Item = K>) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.extend(keys);
        reached.truncate(KEPT);
    }

    fn counted(&self, key: K, now: Timestamp) -> Option<Seen> {
        let seen = self.seen.get(&key)?;
        (now.since(seen.since) < WINDOW).then_some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reached_stays_so_for_the_rest_of_the_hour_and_is_told_once() {
        let tally = Tally::new(WRONG_CODES);
        let (key, now) = (4, Timestamp::from_millis(0));
        for _ in 0..WRONG_CODES {
            assert!(!tally.is_reached(key, now));
            tally.note(key, now);
        }
        tally.note(key, now);
        assert_eq!(tally.take_reached(), [key]);
        assert!(tally.take_reached().is_empty());
        tally.put_back([key, 5].into_iter());
        assert_eq!(tally.take_reached(), [key, 5]);
        assert!(tally.is_reached(key, now.plus(WINDOW - Millis::new(1))));
        assert!(!tally.is_reached(5, now));
        assert!(!tally.is_reached(key, now.plus(WINDOW)));
    }
}
