//! When a failed delivery is repeated.

use std::time::Duration;

use crate::clock::{Millis, Timestamp};
use crate::webhook;

/// Longest pause between two attempts. A mail server that was down for a day has the mail within an
/// hour after it is back.
const PAUSE_MAX: Millis = Millis::hours(1);
/// Pause after an attempt that may have succeeded although its end is not known: within an hour,
/// nobody gets a message twice.
pub const RETRY_UNSURE: Millis = Millis::hours(1);
/// How long a claimed delivery is reserved. If the node stops meanwhile, the message may have been
/// sent, so this is the pause after an unknown end, and the time of an attempt: at most two minutes
/// until the server gets the mail, and ten until it says that it took it.
pub const LEASE: Millis = Millis::minutes(75);
/// Later than each next attempt and the end of each lease. A delivery that is due later was claimed
/// before the clock went back.
pub const NEXT_MAX: Millis = Millis::hours(2);
/// A delivery is given up when its message is this old, as webhooks are: a mail server is repaired
/// within a weekend.
pub const GIVEN_UP_AFTER: Millis = Millis::days(5);

/// Why a message was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFailure {
    /// The reason, a sentence for people, without anything secret.
    pub why: String,
    /// Whether the recipient was refused for good.
    pub permanent: bool,
    /// Whether the message may have arrived nevertheless.
    pub unsure: bool,
    /// The pause that the server asked for.
    pub retry_after: Option<Duration>,
}

impl SendFailure {
    /// A failure after which the message certainly did not arrive, and may arrive later.
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            permanent: false,
            unsure: false,
            retry_after: None,
        }
    }
}

/// The time of the next attempt of a message of `since`, after `attempts` attempts, of which the last
/// one failed `now`; `None` if it is given up. `chance` is random.
pub fn next_attempt(
    since: Timestamp,
    attempts: u32,
    now: Timestamp,
    failure: &SendFailure,
    chance: u8,
) -> Option<Timestamp> {
    if failure.permanent || now.since(since) >= GIVEN_UP_AFTER {
        return None;
    }
    let next = webhook::next_attempt(attempts, now, failure.retry_after, chance);
    let next = next.min(now.plus(PAUSE_MAX));
    Some(if failure.unsure {
        next.max(now.plus(RETRY_UNSURE))
    } else {
        next
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_down_for_a_day_is_asked_every_hour_and_given_up_after_five_days() {
        let since = Timestamp::from_millis(0);
        let down = SendFailure::new("down");
        let (mut now, mut attempts) = (since, 1);
        while let Some(next) = next_attempt(since, attempts, now, &down, 255) {
            assert!(next > now && next <= now.plus(PAUSE_MAX));
            now = next;
            attempts += 1;
        }
        assert!(now.since(since) >= GIVEN_UP_AFTER);
        assert!((110..140).contains(&attempts), "{attempts}");
    }

    #[test]
    fn a_lease_covers_an_attempt_and_the_hour_after_it() {
        assert!(LEASE >= RETRY_UNSURE + Millis::minutes(13));
        assert!(NEXT_MAX > LEASE && NEXT_MAX > PAUSE_MAX + Millis::minutes(13));
    }

    #[test]
    fn a_message_that_may_have_arrived_is_not_repeated_within_an_hour() {
        let now = Timestamp::from_millis(0);
        let mut failure = SendFailure::new("cut off");
        failure.unsure = true;
        let next = next_attempt(now, 1, now, &failure, 0);
        assert_eq!(next, Some(now.plus(Millis::hours(1))));
        failure.permanent = true;
        assert_eq!(next_attempt(now, 1, now, &failure, 0), None);
    }
}
