//! How long the spans are in which taps are counted.

use crate::clock::{Millis, Timestamp};

/// The length of a stored count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountSpan {
    /// One hour, from minute 0 in UTC.
    Hour,
    /// A day of UTC.
    Day,
}

impl CountSpan {
    /// Both lengths, in the order of declaration.
    pub const ALL: [Self; 2] = [Self::Hour, Self::Day];

    /// Its length in hours.
    pub const fn hours(self) -> i64 {
        match self {
            Self::Hour => 1,
            Self::Day => 24,
        }
    }

    const fn length(self) -> Millis {
        Millis::hours(self.hours())
    }

    /// The number of the span that contains a moment, counted from the Unix epoch.
    pub const fn of(self, at: Timestamp) -> i64 {
        at.millis().div_euclid(self.length().get())
    }

    /// The start of a span.
    pub const fn begin(self, slot: i64) -> Timestamp {
        Timestamp::from_millis(slot.saturating_mul(self.length().get()))
    }
}
