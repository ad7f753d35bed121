//! The periods of reports that are sent: days and weeks that are over.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::buckets::Buckets;
use super::span::CountSpan;
use super::step::ReportStep;
use super::time_zone::{TimeZone, whole_hour};
use crate::clock::Timestamp;

/// How often a report is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReportEvery)]
pub enum Every {
    /// Each day after its end, with its hours.
    Day,
    /// Each week after its end, with its days from Monday on.
    Week,
}

/// A period whose taps are all over.
#[derive(Clone, Debug)]
pub struct EndedPeriod {
    /// Its buckets, and as many before them.
    pub buckets: Buckets,
    /// Its name: `2026-03-29`, `2026-W13`.
    pub name: String,
    /// Its end, from which the report is due.
    pub until: Timestamp,
}

impl Every {
    /// The last period that ended at `now` or before. `None` beyond the years of a calendar.
    ///
    /// A period ends with a whole hour of UTC, as the buckets of a report do.
    pub fn last(self, zone: &TimeZone, now: Timestamp) -> Option<EndedPeriod> {
        let (whole, step) = match self {
            Self::Day => (ReportStep::Day, ReportStep::Hour),
            Self::Week => (ReportStep::Week, ReportStep::Day),
        };
        let hour = |at: Timestamp| CountSpan::Hour.begin(whole_hour(at));
        let mut end = whole.first_day(zone.local(now)?.date())?;
        if hour(zone.start_of(end)?) > now {
            end = whole.after(end, -1)?;
        }
        let mut begin = whole.after(end, -1)?;
        let (mut since, until) = (zone.start_of(begin)?, zone.start_of(end)?);
        // A day that a zone skipped, when it moved across the date line, has no hour.
        if since >= until {
            begin = whole.after(begin, -1)?;
            since = zone.start_of(begin)?;
        }
        let name = whole.name(begin);
        let is_of_hours = step == ReportStep::Hour;
        let (first, last) = if is_of_hours {
            (hour(since), hour(until))
        } else {
            (since, until)
        };
        let buckets = Buckets::new(step, zone.clone(), first, last).ok()?;
        Some(EndedPeriod {
            buckets,
            name,
            until: hour(until),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_millis(at.as_millisecond())
    }

    fn last(every: Every, zone: &str, now: &str) -> (String, Timestamp, usize) {
        let period = every.last(&TimeZone::named(zone).unwrap(), at(now));
        let period = period.unwrap();
        let buckets = period.buckets.hours().len();
        (period.name, period.until, buckets)
    }

    #[test]
    fn a_period_is_over_at_midnight_of_its_time_zone() {
        for (every, zone, now, name, until, buckets) in [
            (
                Every::Day,
                "UTC",
                "2026-03-30T00:00:00Z",
                "2026-03-29",
                "2026-03-30T00:00:00Z",
                24,
            ),
            (
                Every::Day,
                "UTC",
                "2026-03-29T23:59:59Z",
                "2026-03-28",
                "2026-03-29T00:00:00Z",
                24,
            ),
            // Clocks change on this day, which has 23 hours.
            (
                Every::Day,
                "Europe/Berlin",
                "2026-03-29T22:00:00Z",
                "2026-03-29",
                "2026-03-29T22:00:00Z",
                23,
            ),
            (
                Every::Day,
                "Europe/Berlin",
                "2026-03-29T21:59:59Z",
                "2026-03-28",
                "2026-03-28T23:00:00Z",
                24,
            ),
            (
                Every::Week,
                "Europe/Berlin",
                "2026-03-29T22:00:00Z",
                "2026-W13",
                "2026-03-29T22:00:00Z",
                7,
            ),
            (
                Every::Week,
                "Europe/Berlin",
                "2026-04-03T10:00:00Z",
                "2026-W13",
                "2026-03-29T22:00:00Z",
                7,
            ),
            // Half an hour from UTC: the day ends with the hour of UTC that its midnight is in.
            (
                Every::Day,
                "Asia/Kolkata",
                "2026-03-29T18:45:00Z",
                "2026-03-28",
                "2026-03-28T19:00:00Z",
                24,
            ),
            (
                Every::Day,
                "Asia/Kolkata",
                "2026-03-29T19:00:00Z",
                "2026-03-29",
                "2026-03-29T19:00:00Z",
                24,
            ),
            (
                Every::Week,
                "Asia/Kolkata",
                "2026-03-29T19:00:00Z",
                "2026-W13",
                "2026-03-29T19:00:00Z",
                7,
            ),
        ] {
            let expected = (name.to_owned(), at(until), buckets);
            assert_eq!(last(every, zone, now), expected, "{zone} {now}");
        }
    }
}
