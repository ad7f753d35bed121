//! The results of taps in a period.

use std::collections::BTreeMap;

use super::range::ReportRange;
use super::span::CountSpan;
use super::{Count, CountedTap, Dimension, TestTapCounts};
use crate::group::GroupKind;
use crate::id::{ExperienceId, GroupId};
use crate::interaction::TagName;

/// The results of taps in a period, and in the preceding period.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All results by the number of their bucket; buckets without taps are left out.
    pub buckets: BTreeMap<usize, Count>,
    /// The results by value of each dimension: in the period, and in the preceding one.
    pub values: BTreeMap<(Dimension, String), (Count, Count)>,
    /// The results of the groups directly below the report's group, or of all top groups, each with
    /// everything below it: in the period, and in the preceding one.
    pub groups: Vec<GroupResults>,
    /// The most tapped tags; `None` if the period has too many taps.
    pub tags: Option<Vec<TagResults>>,
    /// Number of different visitors.
    pub visitors: Visitors,
    /// Test taps, which are in no other number: in the period, and in the preceding one.
    pub test_taps: (TestTapCounts, TestTapCounts),
    /// The names of experiences.
    pub names: BTreeMap<ExperienceId, String>,
    /// The first hour with stored counts; `None` if none was ever removed.
    pub hours_since: Option<i64>,
    /// Whether all taps are counted. After an upgrade or a move, older ones are counted one after
    /// the other.
    pub complete: bool,
}

/// The results of a group's tags, and of all tags below it.
#[derive(Clone, Debug)]
pub struct GroupResults {
    /// Group that has the tags.
    pub group_id: GroupId,
    /// Whether it is a product, a batch or a folder.
    pub kind: GroupKind,
    /// Name that the owner gave it.
    pub name: String,
    /// The results in the period, and in the preceding one.
    pub counts: (Count, Count),
}

/// The results of one tag in the period.
#[derive(Clone, Debug)]
pub struct TagResults {
    /// Names of the tag.
    pub tag: TagName,
    /// Number of its taps and their results.
    pub count: Count,
    /// Its visitors; `None` if they are not known.
    pub visitors: Option<u64>,
}

/// Numbers of different visitors; `None` if they are not known, because clients are kept for 30 days,
/// or because there are too many taps.
#[derive(Clone, Debug, Default)]
pub struct Visitors {
    /// Visitors by the number of the bucket. Buckets of which they are not known are left out.
    pub buckets: BTreeMap<usize, u64>,
    /// Visitors of the whole period.
    pub total: Option<u64>,
    /// Visitors of the period before.
    pub before: Option<u64>,
}

impl Report {
    /// Adds taps with a value, in the preceding or in the reported period.
    pub fn add_value(&mut self, value: (Dimension, String), before: bool, count: Count) {
        let (now, earlier) = self.values.entry(value).or_default();
        *(if before { earlier } else { now }) += count;
    }

    /// Adds the taps of an hour, to its bucket and to the hour of the week, if it is in the range.
    pub fn add_hour(&mut self, range: &ReportRange, hour: i64, count: Count) {
        let Some(before) = range.is_before(hour) else {
            return;
        };
        let of_week = range.buckets.hour_of_week(hour).to_string();
        self.add_value((Dimension::Hour, of_week), before, count);
        if let Some(bucket) = range.buckets.of(hour) {
            *self.buckets.entry(bucket).or_default() += count;
        }
    }

    /// Adds a tap, or taps with equal values, that are in no stored count, if they are in the range.
    pub fn add_tap(&mut self, range: &ReportRange, tap: &CountedTap, count: Count) {
        let hour = CountSpan::Hour.of(tap.at);
        let before = range
            .is_before(hour)
            .filter(|_| range.has(tap.simulated, tap.experience));
        let Some(before) = before else {
            return;
        };
        for (dimension, value) in tap.values() {
            if dimension != Dimension::Hour {
                self.add_value((dimension, value), before, count);
            }
        }
        self.add_hour(range, hour, count);
    }

    /// All taps: in the period, and in the preceding one.
    pub fn totals(&self) -> (Count, Count) {
        // Every tap has exactly one value in this dimension.
        self.sum(|dimension, _| dimension == Dimension::Experience)
    }

    /// The results of all `wanted` values together: in the period, and in the preceding one.
    pub fn sum(&self, wanted: impl Fn(Dimension, &str) -> bool) -> (Count, Count) {
        let mut sum = (Count::default(), Count::default());
        for ((dimension, value), (now, before)) in &self.values {
            if wanted(*dimension, value) {
                sum.0 += *now;
                sum.1 += *before;
            }
        }
        sum
    }
}
