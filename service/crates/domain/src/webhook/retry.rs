//! Determines when a failed delivery is repeated.

use std::time::Duration;

use crate::clock::Timestamp;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Pauses after the failed attempts of a delivery, in milliseconds. They are those of the Standard
/// Webhooks specification and add up to three days. A delivery that is kept longer repeats the last
/// pause.
const PAUSES: [i64; 9] = [
    5_000,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    20 * HOUR,
];

/// Number of failed attempts after which a delivery is given up, if its endpoint accepted others
/// meanwhile. A pause follows each of them except the last one.
pub const ATTEMPTS: u32 = 10;

/// Maximum random extension of a pause, in percent. It spreads deliveries that failed at the same
/// moment.
const JITTER: i64 = 20;

/// Maximum pause that an endpoint can ask for, in milliseconds.
const PAUSE_MAX: i64 = DAY;

/// Time after which an endpoint that only fails is switched off, in milliseconds: five days.
pub const FAILING_MAX: i64 = 5 * DAY;

/// The time of the next attempt, after `attempts` attempts, of which the last one failed `now`.
/// `retry_after` is the pause that the endpoint asked for; `chance` is random.
pub fn next_attempt(
    attempts: u32,
    now: Timestamp,
    retry_after: Option<Duration>,
    chance: u8,
) -> Timestamp {
    let made = usize::try_from(attempts).unwrap_or(usize::MAX);
    let pause = PAUSES[made.saturating_sub(1).min(PAUSES.len() - 1)];
    let jitter = pause * JITTER * i64::from(chance) / (100 * i64::from(u8::MAX));
    let asked = retry_after.map_or(0, |asked| {
        i64::try_from(asked.as_millis()).unwrap_or(PAUSE_MAX)
    });
    now.plus_millis((pause + jitter).max(asked.min(PAUSE_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_tried_for_three_days() {
        assert_eq!(usize::try_from(ATTEMPTS), Ok(PAUSES.len() + 1));
        for chance in [0, 128, 255] {
            let mut now = Timestamp::from_millis(0);
            for attempts in 1..ATTEMPTS {
                let next = next_attempt(attempts, now, None, chance);
                assert!(next > now);
                now = next;
            }
            let tenths_of_days = now.millis() * 10 / DAY;
            assert!((29..37).contains(&tenths_of_days), "{tenths_of_days}");
        }
    }

    #[test]
    fn a_delivery_that_is_kept_for_longer_has_the_last_pause_again() {
        let now = Timestamp::from_millis(0);
        for attempts in [ATTEMPTS - 1, ATTEMPTS, ATTEMPTS + 1, u32::MAX] {
            let next = next_attempt(attempts, now, None, 0);
            assert_eq!(next, now.plus_millis(20 * HOUR));
        }
    }

    #[test]
    fn a_longer_pause_that_is_asked_for_is_kept_up_to_a_day() {
        let now = Timestamp::from_millis(0);
        let at = |seconds| next_attempt(1, now, Some(Duration::from_secs(seconds)), 0);
        assert_eq!(at(1), now.plus_millis(5_000));
        assert_eq!(at(120), now.plus_millis(120_000));
        assert_eq!(at(u64::MAX), now.plus_millis(DAY));
    }
}
