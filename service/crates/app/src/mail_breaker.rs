//! The pause of mails while the mail server cannot be used.
//!
//! Without it, each waiting mail would be attempted each hour: a server that does not answer takes
//! two minutes for each, and one that gets a wrong password a thousand times locks its user out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::clock::{Millis, Timestamp};
use domain::revision::Revision;

/// Pauses after failures in a row. The last one is repeated, so that mails go out within an hour
/// after the server is back.
const PAUSES: [Millis; 4] = [
    Millis::minutes(1),
    Millis::minutes(5),
    Millis::minutes(15),
    Millis::minutes(60),
];

/// Whether mails are attempted. While the mail server fails, one mail after each pause is a probe.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Failures in a row; 0 while the server works.
    failures: usize,
    /// The end of the pause.
    until: Timestamp,
    /// The revision of the settings that failed; `None` if there were none.
    settings: Option<Revision>,
    /// Changes with each result that counts. An attempt counts only if none came since it began:
    /// attempts that fail together are one failure, and none if another one succeeded meanwhile.
    era: u64,
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present era, for [`Self::fails`].
    pub(crate) fn era(&self) -> u64 {
        self.state().era
    }

    /// Whether the mail server fails.
    pub(crate) fn is_open(&self) -> bool {
        self.state().failures > 0
    }

    /// Ends the pause if the settings are other ones than those that failed.
    pub(crate) fn follow(&self, settings: Option<Revision>) {
        let mut state = self.state();
        if state.failures > 0 && state.settings != settings {
            state.close();
        }
    }

    /// How many mails may be attempted at once, of at most `all`.
    pub(crate) fn places(&self, now: Timestamp, all: usize) -> usize {
        let state = self.state();
        let [.., longest] = PAUSES;
        // An end that is further away is from a clock that went back.
        let is_paused = now < state.until && state.until.since(now) <= longest;
        match (state.failures, is_paused) {
            (0, _) => all,
            (_, false) => 1,
            (_, true) => 0,
        }
    }

    /// Notes that the server took a mail, or refused only its recipient or its content.
    pub(crate) fn works(&self) {
        self.state().close();
    }

    /// Notes that an attempt of this era failed because the server cannot be used with these
    /// settings. Returns whether it worked before.
    pub(crate) fn fails(&self, era: u64, now: Timestamp, settings: Option<Revision>) -> bool {
        let mut state = self.state();
        if state.era != era {
            return false;
        }
        let began = state.failures == 0;
        state.until = now.plus(PAUSES[state.failures.min(PAUSES.len() - 1)]);
        state.failures = state.failures.saturating_add(1);
        state.settings = settings;
        state.era += 1;
        began
    }
}

impl State {
    fn close(&mut self) {
        self.failures = 0;
        self.era += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment so many minutes after the beginning.
    fn minute(minutes: i64) -> Timestamp {
        Timestamp::from_millis(0).plus(Millis::minutes(minutes))
    }

    #[test]
    fn pauses_grow_and_one_mail_is_tried_after_each_until_one_gets_through() {
        let breaker = Breaker::default();
        assert_eq!(breaker.places(minute(0), 4), 4);
        let mut now = 0;
        for pause in [1, 5, 15, 60, 60, 60] {
            let began = breaker.fails(breaker.era(), minute(now), None);
            assert_eq!(began, now == 0);
            assert_eq!(breaker.places(minute(now), 4), 0);
            assert_eq!(breaker.places(minute(now + pause - 1), 4), 0);
            now += pause;
            assert_eq!(breaker.places(minute(now), 4), 1);
        }
        breaker.works();
        assert_eq!(breaker.places(minute(now), 4), 4);
        assert!(breaker.fails(breaker.era(), minute(now), None));
        assert_eq!(breaker.places(minute(now + 1), 4), 1);
    }

    #[test]
    fn attempts_that_fail_together_are_one_failure_and_none_beside_a_success() {
        let breaker = Breaker::default();
        let era = breaker.era();
        assert!(breaker.fails(era, minute(0), None));
        assert!(!breaker.fails(era, minute(0), None));
        assert_eq!(breaker.places(minute(1), 4), 1);
        let breaker = Breaker::default();
        let era = breaker.era();
        breaker.works();
        assert!(!breaker.fails(era, minute(0), None));
        assert!(!breaker.is_open());
    }

    #[test]
    fn other_settings_and_a_clock_that_goes_back_end_the_pause() {
        let breaker = Breaker::default();
        let settings = Some(Revision::of(&"settings"));
        breaker.fails(breaker.era(), minute(600), settings);
        breaker.follow(settings);
        assert_eq!(breaker.places(minute(600), 4), 0);
        assert_eq!(breaker.places(minute(0), 4), 1);
        breaker.follow(None);
        assert_eq!(breaker.places(minute(600), 4), 4);
    }
}
