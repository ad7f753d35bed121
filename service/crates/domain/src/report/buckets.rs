//! A period divided into buckets.
//!
//! Taps are counted by whole hours of UTC. Where clocks differ from UTC by a part of an hour, a day
//! begins with the first whole hour after its midnight, in India at 00:30. So each tap is in exactly
//! one bucket, and a bucket states the moment from which it counts.

use jiff::civil::Date;

use super::span::CountSpan;
use super::step::ReportStep;
use super::time_zone::{TimeZone, whole_hour};
use crate::clock::{Millis, Timestamp};
use crate::field_error::FieldError;

/// Most buckets of a period: six weeks of hours, almost three years of days.
const BUCKETS_MAX: i64 = 1_000;
/// Longest period. A report reads the hours of each day of the period, and of one before it.
const YEARS_MAX: i64 = 10;
/// Some more days than ten years have, so that ten whole years and the rest of a month are allowed.
const PERIOD_MAX: Millis = Millis::days(YEARS_MAX * 366 + 31);

/// The buckets of a period, and the period before, which has as many.
#[derive(Clone, Debug)]
pub struct Buckets {
    step: ReportStep,
    time_zone: TimeZone,
    /// The first hour of each bucket in rising order, and then the hour after the last bucket.
    bounds: Vec<i64>,
    /// The first hour of the period before.
    before: i64,
}

impl Buckets {
    /// The period from `since` up to `until`, widened to whole buckets.
    ///
    /// # Errors
    ///
    /// If the period is empty, too long, or has too many buckets.
    pub fn new(
        step: ReportStep,
        time_zone: TimeZone,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Self, FieldError> {
        if since >= until {
            let why = "since must be before until.";
            return Err(FieldError::of("since", why));
        }
        if until.since(since) > PERIOD_MAX {
            let why = format!("A period has at most {YEARS_MAX} years. Choose a later since.");
            return Err(FieldError::of("since", why));
        }
        if step == ReportStep::Hour {
            return Self::of_hours(time_zone, since, until);
        }
        let of_calendar = Self::of_calendar(step, time_zone, since, until);
        of_calendar.unwrap_or_else(|| {
            let why = "This period is beyond the years that a calendar has.";
            Err(FieldError::of("since", why))
        })
    }

    fn of_hours(
        time_zone: TimeZone,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Self, FieldError> {
        let (first, end) = (CountSpan::Hour.of(since), whole_hour(until));
        if end - first > BUCKETS_MAX {
            return Err(too_many());
        }
        Ok(Self {
            step: ReportStep::Hour,
            time_zone,
            bounds: (first..=end).collect(),
            before: first - (end - first),
        })
    }

    /// `None` if a day is beyond the calendar.
    fn of_calendar(
        step: ReportStep,
        time_zone: TimeZone,
        since: Timestamp,
        until: Timestamp,
    ) -> Option<Result<Self, FieldError>> {
        let first = step.first_day(time_zone.local(since)?.date())?;
        let hour = |day: Date| time_zone.start_of(day).map(whole_hour);
        let mut bounds = vec![hour(first)?];
        let (mut day, mut buckets) = (first, 0);
        loop {
            day = step.after(day, 1)?;
            buckets += 1;
            if buckets > BUCKETS_MAX {
                return Some(Err(too_many()));
            }
            let start = time_zone.start_of(day)?;
            // A day that a zone skipped, when it moved across the date line, has no hour.
            if bounds.last().is_none_or(|last| *last < whole_hour(start)) {
                bounds.push(whole_hour(start));
            }
            if start >= until {
                break;
            }
        }
        let before = hour(step.after(first, -buckets)?)?;
        Some(Ok(Self {
            step,
            time_zone,
            bounds,
            before,
        }))
    }

    /// The length of a bucket.
    pub const fn step(&self) -> ReportStep {
        self.step
    }

    /// The time zone of the calendar.
    pub const fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }

    /// The first hour of the period, from the Unix epoch.
    pub fn first(&self) -> i64 {
        self.bounds.first().copied().unwrap_or_default()
    }

    /// The hour after the period.
    pub fn end(&self) -> i64 {
        self.bounds.last().copied().unwrap_or_default()
    }

    /// The first hour of the period before, which ends where the period begins.
    pub const fn before(&self) -> i64 {
        self.before
    }

    /// The hours of each bucket: the first one, and the one after the last.
    pub fn hours(&self) -> impl ExactSizeIterator<Item = (i64, i64)> {
        self.bounds.windows(2).map(|bounds| (bounds[0], bounds[1]))
    }

    /// The number of the bucket that contains an hour, from 0.
    pub fn of(&self, hour: i64) -> Option<usize> {
        let bucket = self.bounds.partition_point(|bound| *bound <= hour);
        (hour < self.end()).then(|| bucket.checked_sub(1)).flatten()
    }

    /// An hour of the week in the time zone: 0 is the first hour of Monday. Where clocks differ by a
    /// part of an hour, it is the hour in which the hour of UTC begins.
    pub fn hour_of_week(&self, hour: i64) -> u8 {
        let local = self.time_zone.local(CountSpan::Hour.begin(hour));
        local.map_or(0, |local| {
            let day = local.weekday().to_monday_zero_offset().unsigned_abs();
            day * 24 + local.hour().unsigned_abs()
        })
    }

    /// The start of the bucket with this first hour, as local time with its offset.
    pub fn local_start(&self, hour: i64) -> String {
        let at = CountSpan::Hour.begin(hour);
        self.time_zone.local(at).map_or_else(
            || at.to_string(),
            |local| {
                let at = local.timestamp();
                at.display_with_offset(local.offset()).to_string()
            },
        )
    }

    /// The name of the bucket with this first hour: `2026-03-29 14:00`, `2026-03-29`, `2026-W13`,
    /// `2026-03`.
    pub fn name(&self, hour: i64) -> String {
        let Some(local) = self.time_zone.local(CountSpan::Hour.begin(hour)) else {
            return String::new();
        };
        match self.step {
            ReportStep::Hour => local.strftime("%Y-%m-%d %H:%M").to_string(),
            step => step.name(local.date()),
        }
    }
}

fn too_many() -> FieldError {
    let why = format!(
        "This period has more than {BUCKETS_MAX} buckets. Choose a longer step, or a shorter period."
    );
    FieldError::of("step", why)
}

#[cfg(test)]
mod tests;
