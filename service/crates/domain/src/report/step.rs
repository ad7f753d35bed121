//! The steps of a report: hours, and the days, weeks and months of a calendar.

use jiff::Span;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The length of a bucket of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportStep {
    /// An hour of UTC, from minute 0.
    #[default]
    Hour,
    /// A day of the time zone. It has 23 or 25 hours if its clocks are changed.
    Day,
    /// A week of the time zone, from Monday (ISO 8601).
    Week,
    /// A month of the time zone.
    Month,
}

impl ReportStep {
    /// Its name in the API and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The first day of the bucket that contains a day.
    pub(super) fn first_day(self, day: Date) -> Option<Date> {
        match self {
            Self::Hour | Self::Day => Some(day),
            Self::Week => {
                let days = day.weekday().to_monday_zero_offset();
                day.checked_sub(Span::new().days(days)).ok()
            }
            Self::Month => Some(day.first_of_month()),
        }
    }

    /// The first day of the bucket that is `steps` after the one that begins with `day`; before it
    /// if `steps` is negative.
    pub(super) fn after(self, day: Date, steps: i64) -> Option<Date> {
        let span = match self {
            Self::Hour | Self::Day => Span::new().try_days(steps),
            Self::Week => Span::new().try_weeks(steps),
            Self::Month => Span::new().try_months(steps),
        };
        day.checked_add(span.ok()?).ok()
    }

    /// The name of the bucket that begins with this day: `2026-03-29`, `2026-W13`, `2026-03`.
    pub(super) fn name(self, day: Date) -> String {
        match self {
            Self::Hour | Self::Day => day.to_string(),
            Self::Week => {
                let week = day.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            Self::Month => format!("{:04}-{:02}", day.year(), day.month()),
        }
    }
}
