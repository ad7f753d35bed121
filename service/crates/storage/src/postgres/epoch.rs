//! How a node learns that the configuration changed, here or on another node.
//!
//! The database counts the changes: this count is the epoch. A node learns of a new epoch with its
//! commit (`NOTIFY`), and also asks for it several times a second. A node that has not confirmed
//! the epoch for a second treats it as unknown.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::clock::{Clock as _, Millis, SystemClock, Timestamp};

/// How long a confirmed epoch stays usable.
const KNOWN: Millis = Millis::seconds(1);
/// Pause between two queries for the epoch.
pub(super) const ASKED_EVERY: Duration = Duration::from_millis(250);

/// A node's knowledge of the epoch.
pub(super) struct KnownEpoch {
    epoch: AtomicU64,
    /// How far simulated time is ahead, in milliseconds. It only grows.
    simulated_offset: AtomicI64,
    /// The last moment at which `epoch` was certainly the newest.
    as_of: AtomicI64,
    clock: SystemClock,
}

impl KnownEpoch {
    pub(super) fn new() -> Self {
        Self {
            epoch: AtomicU64::new(0),
            simulated_offset: AtomicI64::new(0),
            as_of: AtomicI64::new(0),
            clock: SystemClock::start(),
        }
    }

    /// The epoch; `None` if this node cannot know it at the moment.
    pub(super) fn current(&self) -> Option<u64> {
        let as_of = Timestamp::from_millis(self.as_of.load(Ordering::Acquire));
        let known = self.clock.now().since(as_of) <= KNOWN;
        known.then(|| self.epoch.load(Ordering::Acquire))
    }

    /// The time for [`Self::confirm`]: take it before the query, because the answer may be older
    /// than its arrival.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Learns of the epoch `epoch`; a later one may exist.
    pub(super) fn learn(&self, epoch: u64) {
        self.epoch.fetch_max(epoch, Ordering::AcqRel);
    }

    /// How far simulated time is ahead.
    pub(super) fn simulated_offset(&self) -> Millis {
        Millis::new(self.simulated_offset.load(Ordering::Acquire))
    }

    /// Learns that simulated time is ahead by at least `span`.
    pub(super) fn learn_simulated_offset(&self, span: Millis) {
        self.simulated_offset
            .fetch_max(span.get(), Ordering::AcqRel);
    }

    /// Confirms that the newest epoch at `as_of` was `epoch`.
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
        let epoch = KnownEpoch::new();
        assert_eq!(epoch.current(), None);
        let now = epoch.now();
        epoch.confirm(7, now.minus(KNOWN + Millis::new(1)));
        assert_eq!(epoch.current(), None);
        epoch.confirm(7, now);
        assert_eq!(epoch.current(), Some(7));
    }

    #[test]
    fn an_epoch_that_is_over_does_not_come_back() {
        let epoch = KnownEpoch::new();
        epoch.learn(9);
        epoch.confirm(8, epoch.now());
        assert_eq!(epoch.current(), Some(9));
    }
}
