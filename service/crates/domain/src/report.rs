//! Reports: the results of taps, counted by the hour and by the day.
//!
//! Test taps of the real world are in no count; a report states their number separately. A
//! visitor's tap counts once in each [`Dimension`], in the hour and the day of the tap; an update
//! or a submission counts in the hour and the day of its tap. So the counts of a dimension always
//! add up to all taps, and a report is a sum of few rows, however many taps there were.

mod buckets;
mod every;
mod range;
mod result;
mod span;
mod step;
mod time_zone;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;
use utoipa::ToSchema;

pub use buckets::Buckets;
pub use every::{EndedPeriod, Every};
pub use range::{Piece, ReportRange};
pub use result::{GroupResults, Report, TagResults, Visitors};
pub use span::CountSpan;
pub use step::ReportStep;
pub use time_zone::TimeZone;

use crate::clock::Timestamp;
use crate::id::{ExperienceId, GroupId};
use crate::interaction::{Reason, TapOrigin, Tech, Traits};

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
    /// The hour of the week: 0 is the first hour of Monday. Counts are stored by that of UTC, and a
    /// report has that of its time zone.
    Hour,
    /// The visitor's group, if the experience treats groups differently.
    Group,
    /// The reason of the verdict.
    Reason,
}

impl Dimension {
    /// All dimensions, in the order of declaration.
    pub const ALL: [Self; 8] = [
        Self::Experience,
        Self::Technology,
        Self::Country,
        Self::System,
        Self::Language,
        Self::Hour,
        Self::Group,
        Self::Reason,
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
            Self::Reason => "reason",
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
            // Taps of staff phones are in no statistic.
            TapOrigin::Visitor | TapOrigin::Staff | TapOrigin::Simulator => {}
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
    /// The group that the tag is in when the tap is counted.
    pub tag_group: Option<GroupId>,
    /// How the tag was scanned.
    pub tech: Tech,
    /// The reason of its verdict.
    pub reason: Reason,
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
            (Dimension::Reason, self.reason.as_str().to_owned()),
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
    (CountSpan::Hour.of(at) + 3 * 24).rem_euclid(7 * 24)
}

/// The key of a stored count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountKey {
    /// The length of the counted span.
    pub span: CountSpan,
    /// Number of the span, from the Unix epoch.
    pub slot: i64,
    /// The dimension by which taps are divided.
    pub dimension: Dimension,
    /// The value of these taps.
    pub value: String,
    /// Experience of the taps.
    pub experience: Option<ExperienceId>,
    /// Whether the taps are simulated.
    pub simulated: bool,
    /// The group of their tags; `None` in the counts of all tags.
    pub tag_group: Option<GroupId>,
}

/// Counts to add to the stored ones.
#[derive(Clone, Debug, Default)]
pub struct Counts(pub BTreeMap<CountKey, Count>);

impl Counts {
    /// Adds a count for equal taps: to the counts of all tags, and to those of the tag's group.
    pub fn add(&mut self, tap: &CountedTap, count: Count) {
        for (dimension, value) in tap.values() {
            for span in CountSpan::ALL {
                let of_group = tap.tag_group.map(Some);
                for tag_group in std::iter::once(None).chain(of_group) {
                    let key = CountKey {
                        span,
                        slot: span.of(tap.at),
                        dimension,
                        value: value.clone(),
                        experience: tap.experience,
                        simulated: tap.simulated,
                        tag_group,
                    };
                    *self.0.entry(key).or_default() += count;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
