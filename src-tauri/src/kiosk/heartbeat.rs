//! The heartbeat of the attract page: a page that hangs is loaded again. A page whose process ends
//! is loaded again at once, without this.

use std::time::Duration;

use tapdesk_service::clock::Stopwatch;

/// The longest silence of a page that works: it calls every two seconds. With the load that
/// follows, a visitor waits for at most ten seconds.
const SILENCE: Duration = Duration::from_secs(7);
/// The time that a page has until its first call: a slow machine takes some seconds to load it.
const LOADING: Duration = Duration::from_secs(30);

/// The calls of the attract page.
pub(super) struct Heartbeat {
    started: Stopwatch,
    calls: Calls,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            started: Stopwatch::start(),
            calls: Calls::default(),
        }
    }
}

impl Heartbeat {
    /// Notes that the page called now.
    pub(super) fn called(&mut self) {
        self.calls.called(self.started.elapsed());
    }

    /// Notes that the page is being loaded.
    pub(super) fn loads(&mut self) {
        self.calls.loads(self.started.elapsed());
    }

    /// Whether the page works.
    pub(super) fn is_alive(&self) -> bool {
        self.calls.is_alive(self.started.elapsed())
    }

    /// Whether the page must be loaded again. It then has time to load.
    pub(super) fn must_load(&mut self) -> bool {
        self.calls.must_load(self.started.elapsed())
    }
}

/// The same, with times as arguments: since the start.
#[derive(Default)]
struct Calls {
    /// When the page was last heard; `None` before it was ever loaded.
    heard: Option<Duration>,
    /// Whether the page has called since it was last loaded.
    has_called: bool,
}

impl Calls {
    fn called(&mut self, now: Duration) {
        self.heard = Some(now);
        self.has_called = true;
    }

    fn loads(&mut self, now: Duration) {
        self.heard = Some(now);
        self.has_called = false;
    }

    fn is_alive(&self, now: Duration) -> bool {
        self.has_called && !self.is_silent(now)
    }

    fn must_load(&mut self, now: Duration) -> bool {
        let must = self.is_silent(now);
        if must {
            self.loads(now);
        }
        must
    }

    fn is_silent(&self, now: Duration) -> bool {
        let patience = if self.has_called { SILENCE } else { LOADING };
        self.heard
            .is_some_and(|heard| now.saturating_sub(heard) > patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_hangs_is_loaded_again_and_gets_time_for_that() {
        let at = Duration::from_secs;
        let mut calls = Calls::default();
        assert!(!calls.must_load(at(100)), "it was never loaded");
        assert!(!calls.is_alive(at(100)));
        calls.called(at(100));
        assert!(calls.is_alive(at(107)) && !calls.must_load(at(107)));
        assert!(!calls.is_alive(at(108)));
        assert!(calls.must_load(at(108)));
        assert!(!calls.must_load(at(138)), "it is loading");
        assert!(calls.must_load(at(139)), "it hangs while it loads");
        calls.called(at(140));
        assert!(calls.is_alive(at(141)));
    }
}
