//! The heartbeat of the attract page: a page that hangs is loaded again. A page whose process ends
//! is loaded again at once, without this.

use std::time::{Duration, Instant};

/// The longest silence of a page that works: it calls every two seconds. With the load that
/// follows, a visitor waits for at most ten seconds.
const SILENCE: Duration = Duration::from_secs(7);
/// The time that a page has until its first call: a slow machine takes some seconds to load it.
const LOADING: Duration = Duration::from_secs(30);

/// The calls of the attract page.
#[derive(Default)]
pub(super) struct Heartbeat {
    /// When the page was last heard; `None` before it was ever loaded.
    heard: Option<Instant>,
    /// Whether the page has called since it was last loaded.
    has_called: bool,
}

impl Heartbeat {
    /// The page called at `now`.
    pub(super) fn called(&mut self, now: Instant) {
        self.heard = Some(now);
        self.has_called = true;
    }

    /// The page is being loaded at `now`.
    pub(super) fn loads(&mut self, now: Instant) {
        self.heard = Some(now);
        self.has_called = false;
    }

    /// Whether the page works at `now`.
    pub(super) fn is_alive(&self, now: Instant) -> bool {
        self.has_called && !self.is_silent(now)
    }

    /// Whether the page must be loaded again at `now`. It then has time to load.
    pub(super) fn must_load(&mut self, now: Instant) -> bool {
        let must = self.is_silent(now);
        if must {
            self.loads(now);
        }
        must
    }

    fn is_silent(&self, now: Instant) -> bool {
        let patience = if self.has_called { SILENCE } else { LOADING };
        self.heard
            .is_some_and(|heard| now.saturating_duration_since(heard) > patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_hangs_is_loaded_again_and_gets_time_for_that() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut heartbeat = Heartbeat::default();
        assert!(!heartbeat.must_load(at(100)), "it was never loaded");
        assert!(!heartbeat.is_alive(at(100)));
        heartbeat.called(at(100));
        assert!(heartbeat.is_alive(at(107)) && !heartbeat.must_load(at(107)));
        assert!(!heartbeat.is_alive(at(108)));
        assert!(heartbeat.must_load(at(108)));
        assert!(!heartbeat.must_load(at(138)), "it is loading");
        assert!(heartbeat.must_load(at(139)), "it hangs while it loads");
        heartbeat.called(at(140));
        assert!(heartbeat.is_alive(at(141)));
    }
}
