//! Certificates of the service's own domains: when they are renewed, and when an order that failed is
//! repeated.

use std::time::Duration;

use crate::clock::{Millis, Timestamp};
use crate::retry::Schedule;

/// The repetition after failed attempts in a row. The pauses begin after a failure of the network, and
/// end below the limits of Let's Encrypt: five failed validations of a name in an hour. Its slowest
/// limit is that of five equal certificates in a week: one of them is free again after 34 hours.
const RETRY: Schedule<6> = Schedule {
    pauses: [
        Millis::minutes(1),
        Millis::minutes(10),
        Millis::minutes(30),
        Millis::hours(1),
        Millis::hours(3),
        Millis::hours(6),
    ],
    asked_max: Millis::days(2),
};
/// How long a claimed domain is reserved for a node. An attempt takes at most half of it.
pub const LEASE: Millis = Millis::minutes(10);
/// Pause between two looks at a certificate that is good: the authority may want it replaced early.
pub const LOOK: Millis = Millis::hours(6);
/// Shortest pause after a certificate was obtained. A wrong clock, or an authority whose certificates
/// live for minutes, orders no more often than that.
pub const OBTAINED: Millis = Millis::hours(1);
/// Later than each next attempt. One that is due later was noted before the clock went back.
const NEXT_MAX: Millis = Millis::days(3);
/// The failed attempt in a row that raises the alert. The pauses before it add up to eleven minutes,
/// so that a restart of an authority or a router raises none.
pub const ALERT_AT: u32 = 3;

/// When a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// First moment at which clients accept it.
    pub from: Timestamp,
    /// Last moment at which clients accept it.
    pub until: Timestamp,
}

impl Validity {
    /// When the certificate is renewed: after two thirds of its lifetime.
    pub fn renew_at(self) -> Timestamp {
        let lifetime = self.until.since(self.from).get();
        self.until.minus(Millis::new(lifetime / 3))
    }
}

/// Whether an attempt is due `now` that was noted for `next_at`; `None` if none was noted.
pub fn is_due(next_at: Option<Timestamp>, now: Timestamp) -> bool {
    next_at.is_none_or(|next_at| next_at <= now || next_at > now.plus(NEXT_MAX))
}

/// Whether a certificate whose key this node cannot open, because the key that wraps it was lost, is
/// replaced `now` although the next look at it is at `next_at`: until then https has none. Not within
/// [`OBTAINED`] after an order: two nodes with different keys must not order without end.
pub fn is_replaced_early(next_at: Timestamp, now: Timestamp) -> bool {
    next_at <= now.plus(LOOK).minus(OBTAINED)
}

/// The time of the next attempt, after `attempts` failed ones in a row, of which the last one failed
/// `now`. `retry_after` is the pause that the authority asked for; `chance` is random.
pub fn next_attempt(
    attempts: u32,
    now: Timestamp,
    retry_after: Option<Duration>,
    chance: u8,
) -> Timestamp {
    RETRY.next(attempts, now, retry_after, chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_lifetime() {
        let from = Timestamp::from_millis(0);
        let validity = Validity {
            from,
            until: from.plus(Millis::days(90)),
        };
        assert_eq!(validity.renew_at(), from.plus(Millis::days(60)));
    }

    #[test]
    fn pauses_grow_and_a_longer_one_that_is_asked_for_is_kept_up_to_two_days() {
        let now = Timestamp::from_millis(0);
        let after = |attempts, seconds: Option<u64>| {
            let asked = seconds.map(Duration::from_secs);
            next_attempt(attempts, now, asked, 0).since(now)
        };
        assert_eq!(after(1, None), Millis::minutes(1));
        assert_eq!(after(2, Some(1)), Millis::minutes(10));
        assert_eq!(after(99, None), Millis::hours(6));
        assert_eq!(after(1, Some(7_200)), Millis::hours(2));
        assert_eq!(after(1, Some(u64::MAX)), Millis::days(2));
        let longest = next_attempt(1, now, None, u8::MAX).since(now);
        assert_eq!(longest, Millis::seconds(72));
    }

    #[test]
    fn an_attempt_is_due_at_its_time_and_after_the_clock_went_back() {
        let now = Timestamp::from_millis(1_000_000_000);
        assert!(is_due(None, now));
        assert!(is_due(Some(now), now));
        assert!(!is_due(Some(now.plus(Millis::new(1))), now));
        assert!(!is_due(Some(now.plus(RETRY.asked_max)), now));
        assert!(is_due(Some(now.plus(Millis::days(30))), now));
    }

    #[test]
    fn a_certificate_with_a_lost_key_is_replaced_an_hour_after_it_was_obtained() {
        let obtained = Timestamp::from_millis(1_000_000_000);
        let next_at = obtained.plus(LOOK);
        let later = |span| is_replaced_early(next_at, obtained.plus(span));
        assert!(!later(Millis::ZERO) && !later(Millis::minutes(59)));
        assert!(later(OBTAINED) && later(Millis::hours(5)));
    }
}
