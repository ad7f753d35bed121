//! Reports: the results of taps, counted by the hour and by the day.
//!
//! Test taps of the real world are in no count; a report states their number separately. A
//! visitor's tap counts once in each [`Dimension`], in the hour and the day of the tap; an update
//! or a submission counts in the hour and the day of its tap. So the counts of a dimension always
//! add up to all taps, and a report is a sum of few rows, however many taps there were.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::{Millis, Timestamp};
use crate::id::ExperienceId;
use crate::interaction::{TapOrigin, Tech, Traits};
use crate::world::World;

/// The length of a bucket.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    /// One hour, from minute 0.
    #[default]
    Hour,
    /// A day of UTC.
    Day,
}

impl Bucket {
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

    /// The number of a moment's bucket, counted from the Unix epoch.
    pub const fn of(self, at: Timestamp) -> i64 {
        at.millis().div_euclid(self.length().get())
    }

    /// The start of a bucket.
    pub const fn begin(self, slot: i64) -> Timestamp {
        Timestamp::from_millis(slot.saturating_mul(self.length().get()))
    }
}

/// A property by which taps are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The experience that the visitor got.
    Experience,
    /// How the tag was scanned.
    Technology,
    /// Country of the visitor.
    Country,
    /// Operating system of the visitor's device.
    System,
    /// Language of the visitor.
    Language,
    /// The hour of the week, in UTC: 0 is the first hour of Monday.
    Hour,
    /// The visitor's group, if the experience treats groups differently.
    Group,
}

impl Dimension {
    /// All dimensions, in the order of declaration.
    pub const ALL: [Self; 7] = [
        Self::Experience,
        Self::Technology,
        Self::Country,
        Self::System,
        Self::Language,
        Self::Hour,
        Self::Group,
    ];

    /// Its name in storage and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Experience => "experience",
            Self::Technology => "technology",
            Self::Country => "country",
            Self::System => "system",
            Self::Language => "language",
            Self::Hour => "hour_of_week",
            Self::Group => "visitor_group",
        }
    }

    /// The dimension with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// The number of taps, and the number of their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Count {
    /// Number of taps in the bucket or with the value.
    pub taps: u64,
    /// The number of taps after which the visitor changed variables.
    pub updates: u64,
    /// The number of taps after which the visitor sent a form.
    pub submissions: u64,
}

impl Count {
    /// Counts taps without any result.
    pub const fn taps(taps: u64) -> Self {
        Self {
            taps,
            updates: 0,
            submissions: 0,
        }
    }

    /// Counts one result of a tap: a submission if `submission` is true, otherwise an update.
    pub const fn outcome(submission: bool) -> Self {
        Self {
            taps: 0,
            updates: !submission as u64,
            submissions: submission as u64,
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.taps += other.taps;
        self.updates += other.updates;
        self.submissions += other.submissions;
    }
}

/// Test taps by the reader of this application that made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct TestTapCounts {
    /// Taps by the desktop's reader.
    pub reader: u64,
    /// Taps by a kiosk's reader.
    pub kiosk: u64,
}

impl TestTapCounts {
    /// Adds taps by a reader.
    pub const fn add(&mut self, origin: TapOrigin, taps: u64) {
        match origin {
            TapOrigin::Reader => self.reader += taps,
            TapOrigin::Kiosk => self.kiosk += taps,
            TapOrigin::Visitor | TapOrigin::Simulator => {}
        }
    }
}

/// The counted part of a tap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTap {
    /// Its time, to the hour.
    pub at: Timestamp,
    /// Experience that the visitor got.
    pub experience: Option<ExperienceId>,
    /// How the tag was scanned.
    pub tech: Tech,
    /// The visitor's country; empty if it is not known.
    pub country: String,
    /// Further facts about the visitor.
    pub traits: Traits,
    /// Whether the tap is simulated.
    pub simulated: bool,
}

impl CountedTap {
    /// Its values by dimension, without dimensions in which it has none. A value is empty if it is
    /// not known.
    fn values(&self) -> impl Iterator<Item = (Dimension, String)> {
        let Traits {
            system,
            language,
            group,
        } = &self.traits;
        let experience = self.experience.map(|id| id.to_string());
        let values = [
            (Dimension::Experience, experience.unwrap_or_default()),
            (Dimension::Technology, self.tech.value().to_owned()),
            (Dimension::Country, self.country.clone()),
            (
                Dimension::System,
                system.map_or("", |system| system.as_str()).to_owned(),
            ),
            (Dimension::Language, language.clone().unwrap_or_default()),
            (Dimension::Hour, hour_of_week(self.at).to_string()),
        ];
        let group = group.map(|group| (Dimension::Group, group.to_string()));
        values.into_iter().chain(group)
    }
}

/// Hours since Monday began, in UTC.
fn hour_of_week(at: Timestamp) -> i64 {
    // The Unix epoch was on a Thursday.
    (Bucket::Hour.of(at) + 3 * 24).rem_euclid(7 * 24)
}

/// The key of a stored count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountKey {
    /// The length of its bucket.
    pub bucket: Bucket,
    /// Number of the bucket, from the Unix epoch.
    pub slot: i64,
    /// The dimension by which taps are divided.
    pub dimension: Dimension,
    /// The value of these taps.
    pub value: String,
    /// Experience of the taps.
    pub experience: Option<ExperienceId>,
    /// Whether the taps are simulated.
    pub simulated: bool,
}

/// Counts to add to the stored ones.
#[derive(Clone, Debug, Default)]
pub struct Counts(pub BTreeMap<CountKey, Count>);

impl Counts {
    /// Adds a count for equal taps.
    pub fn add(&mut self, tap: &CountedTap, count: Count) {
        for (dimension, value) in tap.values() {
            for bucket in Bucket::ALL {
                let key = CountKey {
                    bucket,
                    slot: bucket.of(tap.at),
                    dimension,
                    value: value.clone(),
                    experience: tap.experience,
                    simulated: tap.simulated,
                };
                *self.0.entry(key).or_default() += count;
            }
        }
    }
}

/// The range of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportRange {
    /// The length of a bucket.
    pub bucket: Bucket,
    /// Number of the first bucket.
    pub first: i64,
    /// The bucket after the last one.
    pub end: i64,
    /// Limits the report to taps of this experience.
    pub experience: Option<ExperienceId>,
    /// The real world, the simulated one, or both.
    pub world: World,
}

impl ReportRange {
    /// The first bucket of the preceding period, which has the same length.
    pub const fn before(&self) -> i64 {
        self.first - (self.end - self.first)
    }

    /// Whether the report needs hourly counts from before the hour `first`.
    pub const fn needs_hours_before(&self, first: i64) -> bool {
        matches!(self.bucket, Bucket::Hour) && self.before() < first
    }

    /// The reported or the preceding period, divided into buckets as long as possible. Each piece
    /// is a range from its first number up to, but not including, its last. A month of hours
    /// becomes 29 days and two parts of a day, which need far fewer counts.
    pub fn pieces(&self, before: bool) -> Vec<(Bucket, i64, i64)> {
        let (first, end) = if before {
            (self.before(), self.first)
        } else {
            (self.first, self.end)
        };
        let day = Bucket::Day.hours();
        let (first_day, end_day) = ((first + day - 1).div_euclid(day), end.div_euclid(day));
        let pieces = match self.bucket {
            Bucket::Day => vec![(Bucket::Day, first, end)],
            Bucket::Hour if first_day >= end_day => vec![(Bucket::Hour, first, end)],
            Bucket::Hour => vec![
                (Bucket::Hour, first, first_day * day),
                (Bucket::Day, first_day, end_day),
                (Bucket::Hour, end_day * day, end),
            ],
        };
        let mut pieces = pieces;
        pieces.retain(|(_, first, end)| first < end);
        pieces
    }
}

/// The results of taps in a period, and in the preceding period.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All results by bucket; buckets without taps are left out.
    pub slots: BTreeMap<i64, Count>,
    /// The results by value of each dimension: in the period, and in the preceding one.
    pub values: BTreeMap<(Dimension, String), (Count, Count)>,
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

impl Report {
    /// Adds taps with a value, in the preceding or in the reported period.
    pub fn add_value(&mut self, value: (Dimension, String), before: bool, count: Count) {
        let (now, earlier) = self.values.entry(value).or_default();
        *(if before { earlier } else { now }) += count;
    }

    /// Adds taps in a bucket.
    pub fn add_slot(&mut self, slot: i64, count: Count) {
        *self.slots.entry(slot).or_default() += count;
    }

    /// Adds a count that is not stored yet, if it is in the range.
    pub fn add(&mut self, range: &ReportRange, key: &CountKey, count: Count) {
        let wanted = key.bucket == range.bucket
            && (range.before()..range.end).contains(&key.slot)
            && range.world.has(key.simulated)
            && range.experience.is_none_or(|id| key.experience == Some(id));
        if !wanted {
            return;
        }
        let before = key.slot < range.first;
        self.add_value((key.dimension, key.value.clone()), before, count);
        if !before && key.dimension == Dimension::Experience {
            self.add_slot(key.slot, count);
        }
    }

    /// All taps: in the period, and in the preceding one.
    pub fn totals(&self) -> (Count, Count) {
        let mut totals = (Count::default(), Count::default());
        for ((dimension, _), (now, before)) in &self.values {
            // Every tap has exactly one value in this dimension.
            if *dimension == Dimension::Experience {
                totals.0 += *now;
                totals.1 += *before;
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 5 January 2026, 13:30 UTC.
    const AT: Timestamp = Timestamp::from_millis(1_767_619_800_000);

    fn tap(country: &str) -> CountedTap {
        CountedTap {
            at: AT,
            experience: Some(ExperienceId::new(7)),
            tech: Tech::Nfc,
            country: country.to_owned(),
            traits: Traits {
                group: Some(3),
                ..Traits::default()
            },
            simulated: false,
        }
    }

    fn range(first: i64, end: i64) -> ReportRange {
        ReportRange {
            bucket: Bucket::Hour,
            first,
            end,
            experience: None,
            world: World::Real,
        }
    }

    #[test]
    fn the_week_begins_on_monday() {
        assert_eq!(hour_of_week(AT), 13);
        assert_eq!(hour_of_week(AT.minus(Millis::hours(14))), 7 * 24 - 1);
    }

    #[test]
    fn a_tap_counts_once_in_each_dimension_and_in_hour_and_day() {
        let mut counts = Counts::default();
        counts.add(&tap("DE"), Count::taps(2));
        counts.add(&tap("AT"), Count::taps(1));
        counts.add(&tap("AT"), Count::outcome(true));
        let sum = |dimension, bucket| {
            let of = counts.0.iter();
            let of = of.filter(|(key, _)| key.dimension == dimension && key.bucket == bucket);
            of.fold(Count::default(), |mut sum, (_, count)| {
                sum += *count;
                sum
            })
        };
        let all = Count {
            taps: 3,
            updates: 0,
            submissions: 1,
        };
        for dimension in Dimension::ALL {
            for bucket in Bucket::ALL {
                assert_eq!(sum(dimension, bucket), all, "{dimension:?} {bucket:?}");
            }
        }
    }

    #[test]
    fn a_report_tells_the_time_from_the_time_before_and_leaves_the_rest_out() {
        let mut counts = Counts::default();
        counts.add(&tap("DE"), Count::taps(2));
        let slot = Bucket::Hour.of(AT);
        let totals = |range: ReportRange| {
            let mut report = Report::default();
            for (key, count) in &counts.0 {
                report.add(&range, key, *count);
            }
            let (now, before) = report.totals();
            (now.taps, before.taps, report.slots.len())
        };
        assert_eq!(totals(range(slot, slot + 1)), (2, 0, 1));
        assert_eq!(totals(range(slot + 1, slot + 2)), (0, 2, 0));
        assert_eq!(totals(range(slot + 1, slot + 3)), (0, 2, 0));
        assert_eq!(totals(range(slot + 2, slot + 3)), (0, 0, 0));
        let mut other = range(slot, slot + 1);
        other.experience = Some(ExperienceId::new(8));
        assert_eq!(totals(other), (0, 0, 0));
        other = range(slot, slot + 1);
        other.world = World::Simulated;
        assert_eq!(totals(other), (0, 0, 0));
    }

    #[test]
    fn the_pieces_of_a_time_have_each_hour_once() {
        let hours =
            |(bucket, first, end): (Bucket, i64, i64)| first * bucket.hours()..end * bucket.hours();
        for (first, end) in [
            (0, 1),
            (5, 53),
            (24, 48),
            (24, 72),
            (-30, 30),
            (1, 24),
            (23, 49),
        ] {
            let range = range(first, end);
            for (before, first, end) in [(false, first, end), (true, range.before(), first)] {
                let pieces = range.pieces(before).into_iter().flat_map(hours);
                assert_eq!(pieces.collect::<Vec<_>>(), (first..end).collect::<Vec<_>>());
            }
        }
        assert_eq!(range(5, 53).pieces(false).len(), 3);
        let mut days = range(5, 53);
        days.bucket = Bucket::Day;
        assert_eq!(days.pieces(true), [(Bucket::Day, -43, 5)]);
    }

    #[test]
    fn hours_are_needed_of_the_time_before_too_and_of_days_none() {
        let hours = range(10, 14);
        assert!(!hours.needs_hours_before(6));
        assert!(hours.needs_hours_before(7));
        let days = ReportRange {
            bucket: Bucket::Day,
            ..hours
        };
        assert!(!days.needs_hours_before(1_000));
    }

    #[test]
    fn a_dimension_is_known_by_its_name() {
        for dimension in Dimension::ALL {
            assert_eq!(Dimension::from_name(dimension.as_str()), Some(dimension));
        }
    }
}
