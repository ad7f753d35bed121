//! How a node learns that the configuration changed, here or on another node.
//!
//! The database counts the changes: this count is the epoch. A node learns of a new epoch and of the
//! parts that changed with its commit (`NOTIFY`), and also asks for the epoch several times a second.
//! If the message about an epoch is lost, any part may have changed. A node that has not confirmed
//! the epoch for a second treats it as unknown.

pub(super) mod announcement;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::CachedPart;
use crate::epochs::Epochs;
use domain::clock::{Clock as _, Millis, SystemClock, Timestamp};

/// How long a confirmed epoch stays usable.
const KNOWN: Millis = Millis::seconds(1);
/// Pause between two queries for the epoch.
pub(super) const ASKED_EVERY: Duration = Duration::from_millis(250);

/// A node's knowledge of the epoch.
pub(super) struct KnownEpoch {
    epochs: Epochs,
    /// An epoch that the database had when it was asked at this moment, and whose message has not
    /// arrived. Locked while epochs are published.
    awaited: Mutex<Option<(u64, Timestamp)>>,
    /// How far simulated time is ahead, in milliseconds. It only grows.
    simulated_offset: AtomicI64,
    /// The last moment at which the newest of `epochs` was certainly the newest.
    as_of: AtomicI64,
    clock: SystemClock,
}

impl KnownEpoch {
    pub(super) fn new() -> Self {
        Self {
            epochs: Epochs::default(),
            awaited: Mutex::default(),
            simulated_offset: AtomicI64::new(0),
            as_of: AtomicI64::new(0),
            clock: SystemClock::start(),
        }
    }

    /// The epoch; `None` if this node cannot know it at the moment.
    pub(super) fn current(&self) -> Option<u64> {
        self.is_known().then(|| self.epochs.newest())
    }

    /// The epoch of the last change of a part; `None` if this node cannot know it at the moment.
    pub(super) fn of(&self, part: CachedPart) -> Option<u64> {
        self.is_known().then(|| self.epochs.of(part))
    }

    fn is_known(&self) -> bool {
        let as_of = Timestamp::from_millis(self.as_of.load(Ordering::Acquire));
        self.clock.now().since(as_of) <= KNOWN
    }

    /// The time for [`Self::confirm`]: take it before the query, because the answer may be older
    /// than its arrival.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Learns of the epoch `epoch`, in which these parts changed; `None` if they are unknown. A later
    /// epoch may exist.
    pub(super) fn learn(&self, epoch: u64, changed: Option<&[CachedPart]>) {
        let mut awaited = self.awaited();
        self.publish(epoch, changed);
        let newest = self.epochs.newest();
        if let Some((_, as_of)) = awaited.take_if(|(epoch, _)| *epoch <= newest) {
            self.confirm_newest(as_of);
        }
    }

    fn awaited(&self) -> MutexGuard<'_, Option<(u64, Timestamp)>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an epoch. Its message names its own changes only, so after a gap any part may have
    /// changed.
    fn publish(&self, epoch: u64, changed: Option<&[CachedPart]>) {
        let newest = self.epochs.newest();
        if epoch <= newest {
            return;
        }
        match changed {
            Some(parts) if epoch == newest + 1 => self.epochs.publish_parts(epoch, parts),
            _ => self.epochs.publish_all(epoch),
        }
    }

    fn confirm_newest(&self, as_of: Timestamp) {
        self.as_of.fetch_max(as_of.millis(), Ordering::AcqRel);
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

    /// Confirms that the newest epoch at `as_of` was `epoch`. The message about a new one arrives
    /// after its commit, so it may be on its way; if it has not come by the next call, it is lost.
    pub(super) fn confirm(&self, epoch: u64, as_of: Timestamp) {
        let mut awaited = self.awaited();
        if epoch > self.epochs.newest() {
            if awaited.is_none() {
                *awaited = Some((epoch, as_of));
                return;
            }
            self.publish(epoch, None);
        }
        *awaited = None;
        self.confirm_newest(as_of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::TagId;

    const ONE: CachedPart = CachedPart::Tag(TagId::new(1));
    const OTHER: CachedPart = CachedPart::Tag(TagId::new(2));

    #[test]
    fn the_page_about_distributed_engines_names_the_pause_between_two_queries() {
        let page = include_str!("../../../../deploy/distributed.md");
        let words = format!("polling every {} ms", ASKED_EVERY.as_millis());
        assert!(page.contains(&words), "{words}");
    }

    /// A node that knows the epoch 7.
    fn node() -> KnownEpoch {
        let epoch = KnownEpoch::new();
        epoch.learn(7, None);
        epoch.confirm(7, epoch.now());
        epoch
    }

    #[test]
    fn what_was_not_confirmed_for_a_second_is_not_known() {
        let epoch = KnownEpoch::new();
        epoch.learn(7, None);
        assert_eq!((epoch.current(), epoch.of(ONE)), (None, None));
        let now = epoch.now();
        epoch.confirm(7, now.minus(KNOWN + Millis::new(1)));
        assert_eq!((epoch.current(), epoch.of(ONE)), (None, None));
        epoch.confirm(7, now);
        assert_eq!((epoch.current(), epoch.of(ONE)), (Some(7), Some(7)));
    }

    #[test]
    fn an_epoch_that_is_over_does_not_come_back() {
        let epoch = node();
        epoch.learn(9, None);
        epoch.confirm(8, epoch.now());
        epoch.learn(8, Some(&[ONE]));
        assert_eq!((epoch.current(), epoch.of(ONE)), (Some(9), Some(9)));
    }

    #[test]
    fn a_change_is_of_the_parts_that_its_message_names() {
        let epoch = node();
        epoch.learn(8, Some(&[ONE]));
        assert_eq!((epoch.of(ONE), epoch.of(OTHER)), (Some(8), Some(7)));
        epoch.learn(9, Some(&[]));
        assert_eq!(epoch.current(), Some(9));
        assert_eq!((epoch.of(ONE), epoch.of(OTHER)), (Some(8), Some(7)));
    }

    #[test]
    fn after_a_gap_any_part_may_have_changed() {
        let epoch = node();
        epoch.learn(9, Some(&[ONE]));
        assert_eq!((epoch.of(ONE), epoch.of(OTHER)), (Some(9), Some(9)));
    }

    #[test]
    fn a_message_that_comes_after_the_answer_still_names_its_parts() {
        let epoch = node();
        let as_of = epoch.now().plus(Millis::new(5));
        epoch.confirm(8, as_of);
        assert_eq!(epoch.current(), Some(7), "the message is on its way");
        epoch.learn(8, Some(&[ONE]));
        assert_eq!((epoch.of(ONE), epoch.of(OTHER)), (Some(8), Some(7)));
        let confirmed = epoch.as_of.load(Ordering::Acquire);
        assert_eq!(confirmed, as_of.millis(), "the answer is confirmed");
    }

    #[test]
    fn a_message_that_has_not_come_by_the_next_answer_is_lost() {
        let epoch = node();
        epoch.confirm(8, epoch.now());
        epoch.confirm(8, epoch.now());
        assert_eq!((epoch.of(ONE), epoch.of(OTHER)), (Some(8), Some(8)));
    }
}
