//! Pauses between attempts that are repeated until one succeeds.

use std::time::Duration;

use crate::clock::{Millis, Timestamp};

/// Longest random extension of a pause, in percent, so that attempts that failed at the same moment
/// are not all repeated at once.
const JITTER: i64 = 20;

/// When attempts of one kind are repeated.
pub(crate) struct Schedule<const PAUSES: usize> {
    /// The pauses after failed attempts; the last one repeats.
    pub(crate) pauses: [Millis; PAUSES],
    /// Longest pause that the other side can ask for.
    pub(crate) asked_max: Millis,
}

impl<const PAUSES: usize> Schedule<PAUSES> {
    /// The time of the next attempt, after `attempts` failed ones, of which the last one failed
    /// `now`. `retry_after` is the pause that the other side asked for; `chance` is random.
    pub(crate) fn next(
        &self,
        attempts: u32,
        now: Timestamp,
        retry_after: Option<Duration>,
        chance: u8,
    ) -> Timestamp {
        let made = usize::try_from(attempts).unwrap_or(usize::MAX);
        let pause = self.pauses[made.saturating_sub(1).min(PAUSES - 1)];
        let jitter = pause.get() * JITTER * i64::from(chance) / (100 * i64::from(u8::MAX));
        let asked = retry_after.map_or(Millis::ZERO, Millis::from);
        now.plus((pause + Millis::new(jitter)).max(asked.min(self.asked_max)))
    }
}
