//! Determines when a failed delivery is repeated.

use std::time::Duration;

use crate::clock::{Millis, Timestamp};
use crate::retry::Schedule;

/// The repetition after the failed attempts of a delivery. The pauses are those of the Standard
/// Webhooks specification and add up to three days. A delivery that is kept longer repeats the last
/// pause.
const RETRY: Schedule<9> = Schedule {
    pauses: [
        Millis::seconds(5),
        Millis::minutes(5),
        Millis::minutes(30),
        Millis::hours(2),
        Millis::hours(5),
        Millis::hours(10),
        Millis::hours(14),
        Millis::hours(20),
        Millis::hours(20),
    ],
    asked_max: Millis::days(1),
};

/// Number of failed attempts after which a delivery is given up, if its endpoint accepted others
/// meanwhile. A pause follows each of them except the last one.
pub const ATTEMPTS: u32 = 10;

/// Time after which an endpoint that only fails is switched off.
pub const FAILING_MAX: Millis = Millis::days(5);

/// The time of the next attempt, after `attempts` attempts, of which the last one failed `now`.
/// `retry_after` is the pause that the endpoint asked for; `chance` is random.
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
    fn a_delivery_is_tried_for_three_days() {
        assert_eq!(usize::try_from(ATTEMPTS), Ok(RETRY.pauses.len() + 1));
        for chance in [0, 128, 255] {
            let mut now = Timestamp::from_millis(0);
            for attempts in 1..ATTEMPTS {
                let next = next_attempt(attempts, now, None, chance);
                assert!(next > now);
                now = next;
            }
            let tenths_of_days = now.millis() * 10 / Millis::days(1).get();
            assert!((29..37).contains(&tenths_of_days), "{tenths_of_days}");
        }
    }

    #[test]
    fn a_delivery_that_is_kept_for_longer_has_the_last_pause_again() {
        let now = Timestamp::from_millis(0);
        for attempts in [ATTEMPTS - 1, ATTEMPTS, ATTEMPTS + 1, u32::MAX] {
            let next = next_attempt(attempts, now, None, 0);
            assert_eq!(next, now.plus(Millis::hours(20)));
        }
    }

    #[test]
    fn a_longer_pause_that_is_asked_for_is_kept_up_to_a_day() {
        let now = Timestamp::from_millis(0);
        let at = |seconds| next_attempt(1, now, Some(Duration::from_secs(seconds)), 0);
        assert_eq!(at(1), now.plus(Millis::seconds(5)));
        assert_eq!(at(120), now.plus(Millis::minutes(2)));
        assert_eq!(at(u64::MAX), now.plus(Millis::days(1)));
    }
}
