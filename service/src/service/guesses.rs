//! Wrong codes of chips whose codes are short: 32 bits can be guessed in hours.

use std::sync::{Mutex, PoisonError};

use quick_cache::sync::Cache;

use crate::clock::Timestamp;
use crate::inlay::Uid;

/// Wrong codes after which a chip's codes are not checked: with 100 guesses an hour, one of 2^32
/// codes is found in thousands of years, and no visitor comes with so many wrong ones.
const WRONG_MAX: u32 = 100;
/// For how long they count, in milliseconds: an hour.
const WINDOW_MILLIS: i64 = 60 * 60 * 1000;
/// Chips that are watched at the most.
const KEPT: usize = 10_000;

/// Wrong codes by chip, on this node.
pub(crate) struct Guesses {
    wrong: Cache<Uid, Wrong>,
    /// Chips whose codes are not checked since a moment ago, and of which nobody was told yet.
    reached: Mutex<Vec<Uid>>,
}

#[derive(Clone, Copy)]
struct Wrong {
    since: Timestamp,
    codes: u32,
}

impl Default for Guesses {
    fn default() -> Self {
        Self {
            wrong: Cache::new(KEPT),
            reached: Mutex::default(),
        }
    }
}

impl Guesses {
    /// Whether so many wrong codes came for a chip that its codes are not checked.
    pub(crate) fn are_too_many(&self, uid: Uid, now: Timestamp) -> bool {
        self.counted(uid, now)
            .is_some_and(|wrong| wrong.codes >= WRONG_MAX)
    }

    /// Counts a wrong code.
    pub(crate) fn note(&self, uid: Uid, now: Timestamp) {
        let wrong = self.counted(uid, now).unwrap_or(Wrong {
            since: now,
            codes: 0,
        });
        let codes = wrong.codes.saturating_add(1);
        self.wrong.insert(uid, Wrong { codes, ..wrong });
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if codes == WRONG_MAX && reached.len() < KEPT {
            reached.push(uid);
        }
    }

    /// Takes the chips whose codes are not checked since the last time.
    pub(crate) fn take_reached(&self) -> Vec<Uid> {
        std::mem::take(&mut *self.reached.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn counted(&self, uid: Uid, now: Timestamp) -> Option<Wrong> {
        let wrong = self.wrong.get(&uid)?;
        (now.millis_since(wrong.since) < WINDOW_MILLIS).then_some(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_is_left_alone_for_the_rest_of_the_hour() {
        let guesses = Guesses::default();
        let (uid, now) = (Uid::from_bytes([4; 7]), Timestamp::from_millis(0));
        for _ in 0..WRONG_MAX {
            assert!(!guesses.are_too_many(uid, now));
            guesses.note(uid, now);
        }
        guesses.note(uid, now);
        assert_eq!(guesses.take_reached(), [uid]);
        assert!(guesses.take_reached().is_empty());
        assert!(guesses.are_too_many(uid, now.plus_millis(WINDOW_MILLIS - 1)));
        assert!(!guesses.are_too_many(Uid::from_bytes([5; 7]), now));
        assert!(!guesses.are_too_many(uid, now.plus_millis(WINDOW_MILLIS)));
    }
}
