//! How a node knows that configuration was changed, by itself or by another.
//!
//! The database counts the changes: its epoch. A node hears of a new one with
//! its commit (`NOTIFY`) and asks for it several times a second. If it has
//! not been told for a second what the epoch is, it does not know.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Clock as _, SystemClock, Timestamp};

/// Oldest knowledge that is any, in milliseconds.
const KNOWN: i64 = 1_000;
/// Between two questions.
pub(super) const ASKED_EVERY: Duration = Duration::from_millis(250);

/// What a node knows of the epoch.
pub(super) struct Configuration {
    epoch: AtomicU64,
    /// By how much simulated time is ahead, in milliseconds. It only grows.
    simulated_offset: AtomicI64,
    /// When it was the newest one for certain.
    as_of: AtomicI64,
    clock: SystemClock,
}

impl Configuration {
    pub(super) fn new() -> Self {
        Self {
            epoch: AtomicU64::new(0),
            simulated_offset: AtomicI64::new(0),
            as_of: AtomicI64::new(0),
            clock: SystemClock::start(),
        }
    }

    /// The epoch; `None` if this node cannot know it.
    pub(super) fn epoch(&self) -> Option<u64> {
        let as_of = Timestamp::from_millis(self.as_of.load(Ordering::Acquire));
        let known = self.clock.now().millis_since(as_of) <= KNOWN;
        known.then(|| self.epoch.load(Ordering::Acquire))
    }

    /// The time by which answers are dated: of before the question.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// There is the epoch `epoch`, and perhaps a later one.
    pub(super) fn learn(&self, epoch: u64) {
        self.epoch.fetch_max(epoch, Ordering::AcqRel);
    }

    /// By how much simulated time is ahead, in milliseconds.
    pub(super) fn simulated_offset(&self) -> i64 {
        self.simulated_offset.load(Ordering::Acquire)
    }

    /// Simulated time is ahead by so much, at the least.
    pub(super) fn learn_simulated_offset(&self, millis: i64) {
        self.simulated_offset.fetch_max(millis, Ordering::AcqRel);
    }

    /// The newest epoch at `as_of` was `epoch`.
    pub(super) fn confirm(&self, epoch: u64, as_of: Timestamp) {
        self.learn(epoch);
        self.as_of.fetch_max(as_of.millis(), Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_confirmed_for_a_second_is_not_known() {
        let configuration = Configuration::new();
        assert_eq!(configuration.epoch(), None);
        let now = configuration.now();
        configuration.confirm(7, now.plus_millis(-KNOWN - 1));
        assert_eq!(configuration.epoch(), None);
        configuration.confirm(7, now);
        assert_eq!(configuration.epoch(), Some(7));
    }

    #[test]
    fn an_epoch_that_is_over_does_not_come_back() {
        let configuration = Configuration::new();
        configuration.learn(9);
        configuration.confirm(8, configuration.now());
        assert_eq!(configuration.epoch(), Some(9));
    }
}
