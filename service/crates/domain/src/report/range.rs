//! The taps that a report is about.

use super::buckets::Buckets;
use super::span::CountSpan;
use crate::clock::Timestamp;
use crate::id::{ExperienceId, GroupId, TagId};
use crate::world::World;

/// The range of a report.
#[derive(Clone, Debug)]
pub struct ReportRange {
    /// The period, and the one before.
    pub buckets: Buckets,
    /// Limits the report to taps of this experience.
    pub experience: Option<ExperienceId>,
    /// Limits the report to tags in this group, or in a group below it.
    pub group: Option<GroupId>,
    /// Limits the report to taps of this tag.
    pub tag: Option<TagId>,
    /// The real world, the simulated one, or both.
    pub world: World,
    /// The time since when clients are known.
    pub clients_since: Timestamp,
}

/// Counted spans one after the other: their length, the first one, and the one after the last.
pub type Piece = (CountSpan, i64, i64);

impl ReportRange {
    /// The first hour and the one after the last: of the period, or of the one before.
    pub fn hours(&self, before: bool) -> (i64, i64) {
        if before {
            (self.buckets.before(), self.buckets.first())
        } else {
            (self.buckets.first(), self.buckets.end())
        }
    }

    /// The reported or the preceding period, divided into spans as long as possible. A month of a
    /// time zone becomes 29 days of UTC and two parts of a day, which need far fewer counts than
    /// hours.
    pub fn pieces(&self, before: bool) -> Vec<Piece> {
        let (first, end) = self.hours(before);
        let day = CountSpan::Day.hours();
        let (first_day, end_day) = ((first + day - 1).div_euclid(day), end.div_euclid(day));
        let mut pieces = if first_day >= end_day {
            vec![(CountSpan::Hour, first, end)]
        } else {
            vec![
                (CountSpan::Hour, first, first_day * day),
                (CountSpan::Day, first_day, end_day),
                (CountSpan::Hour, end_day * day, end),
            ]
        };
        pieces.retain(|(_, first, end)| first < end);
        pieces
    }

    /// The days of UTC that contain both periods: the first one, and the one after the last.
    pub fn days(&self) -> (i64, i64) {
        let day = CountSpan::Day.hours();
        let end = self.buckets.end();
        (
            self.buckets.before().div_euclid(day),
            (end + day - 1).div_euclid(day),
        )
    }

    /// Whether the report needs hourly counts from before the hour `first`.
    pub fn needs_hours_before(&self, first: i64) -> bool {
        let pieces = [true, false]
            .into_iter()
            .flat_map(|before| self.pieces(before));
        let mut hours = pieces.filter(|(span, ..)| *span == CountSpan::Hour);
        hours.any(|(_, from, _)| from < first)
    }

    /// Whether an hour is in the period before; `None` if it is in neither period.
    pub fn is_before(&self, hour: i64) -> Option<bool> {
        let within = (self.buckets.before()..self.buckets.end()).contains(&hour);
        within.then(|| hour < self.buckets.first())
    }

    /// Whether the report has taps of this world that led to this experience.
    pub fn has(&self, simulated: bool, experience: Option<ExperienceId>) -> bool {
        self.world.has(simulated) && self.experience.is_none_or(|id| experience == Some(id))
    }
}
