//! Test taps that the application announced, identified by path and query, so that no visitor can
//! mark a tap as a test.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::clock::Stopwatch;
use domain::interaction::TapOrigin;

/// How long after its announcement a test tap may come: a kiosk loads a page first.
const LIFETIME_SECONDS: u64 = 30;
/// Most announcements at one time: more than the readers of one service.
const KEPT: usize = 256;

/// The test taps that are expected on this node.
#[derive(Default)]
pub(super) struct ExpectedTaps {
    /// Number of expected taps. Every tap reads it first, without the lock, because most are not
    /// expected.
    count: AtomicUsize,
    taps: Mutex<Vec<Expected>>,
}

struct Expected {
    path: String,
    origin: TapOrigin,
    since: Stopwatch,
}

impl ExpectedTaps {
    /// Expects one tap with this path and query.
    pub(super) fn expect(&self, path: String, origin: TapOrigin) {
        let mut taps = self.lock();
        taps.retain(Expected::is_alive);
        if taps.len() == KEPT {
            taps.remove(0);
        }
        taps.push(Expected {
            path,
            origin,
            since: Stopwatch::start(),
        });
        self.count.store(taps.len(), Ordering::Relaxed);
    }

    /// Who makes a tap with this path and query. Each announcement counts for one tap.
    pub(super) fn take(&self, path_and_query: &str) -> TapOrigin {
        if self.count.load(Ordering::Relaxed) == 0 {
            return TapOrigin::Visitor;
        }
        let mut taps = self.lock();
        taps.retain(Expected::is_alive);
        let at = taps.iter().position(|tap| tap.path == path_and_query);
        let origin = at.map_or(TapOrigin::Visitor, |at| taps.remove(at).origin);
        self.count.store(taps.len(), Ordering::Relaxed);
        origin
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Expected>> {
        self.taps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Expected {
    fn is_alive(&self) -> bool {
        self.since.elapsed().as_secs() < LIFETIME_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_good_for_one_tap_of_its_url() {
        let taps = ExpectedTaps::default();
        taps.expect("/t/a?uid=1".to_owned(), TapOrigin::Reader);
        assert_eq!(taps.take("/t/a?uid=2"), TapOrigin::Visitor);
        assert_eq!(taps.take("/t/a?uid=1"), TapOrigin::Reader);
        assert_eq!(taps.take("/t/a?uid=1"), TapOrigin::Visitor);
    }

    #[test]
    fn the_oldest_announcements_are_forgotten_first() {
        let taps = ExpectedTaps::default();
        for number in 0..=KEPT {
            taps.expect(format!("/t/{number}"), TapOrigin::Kiosk);
        }
        assert_eq!(taps.take("/t/0"), TapOrigin::Visitor);
        assert_eq!(taps.take("/t/1"), TapOrigin::Kiosk);
    }
}
