//! A report as JSON.

use serde::Serialize;
use utoipa::ToSchema;

use super::Found;
use super::split::SplitCount;
use domain::clock::Timestamp;
use domain::group::GroupKind;
use domain::id::{ExperienceId, GroupId};
use domain::interaction::{Reason, TagName, VerificationState};
use domain::report::{Count, CountSpan, Dimension, Report, ReportStep, TagResults, TestTapCounts};

/// Taps, updates and submissions, with those of the period before.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Compared {
    #[serde(flatten)]
    now: Count,
    /// The same counts for the period before, which has as many buckets.
    before: Count,
}

impl From<(Count, Count)> for Compared {
    fn from((now, before): (Count, Count)) -> Self {
        Self { now, before }
    }
}

/// All taps of a time, its visitors, and the programs.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Sums {
    #[serde(flatten)]
    count: Count,
    /// Number of different visitors; null if they are not known.
    visitors: Option<u64>,
    /// Previews of tags that link preview programs loaded. They are not taps. Null in a report of an
    /// experience, a group or a tag: a preview belongs to none.
    programs: Option<u64>,
}

/// All taps of the period, and of the period before.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct ReportTotals {
    #[serde(flatten)]
    now: Sums,
    /// The same for the period before.
    before: Sums,
}

/// The taps of one bucket.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketCount {
    /// Start of the bucket.
    at: Timestamp,
    #[serde(flatten)]
    sums: Sums,
}

/// The taps that led to an experience.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExperienceCount {
    /// The experience; `null` for taps that led to none.
    experience_id: Option<ExperienceId>,
    /// Name of the experience; `null` if there is none.
    name: Option<String>,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps of tags in a group, or in a group below it.
#[derive(Serialize, ToSchema)]
pub(crate) struct GroupCount {
    /// Group of the tags.
    group_id: GroupId,
    /// Kind of the group.
    kind: GroupKind,
    /// Name of the group.
    name: String,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps of one tag.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagCount {
    #[serde(flatten)]
    tag: TagName,
    #[serde(flatten)]
    count: Count,
    /// Number of different visitors; null if they are not known.
    visitors: Option<u64>,
}

/// The taps with one verdict.
#[derive(Serialize, ToSchema)]
pub(crate) struct VerdictCount {
    /// Verdict on the tap.
    verdict: VerificationState,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps with one value of a dimension.
#[derive(Serialize, ToSchema)]
pub(crate) struct ValueCount {
    /// The value; empty if unknown.
    value: String,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps in an hour of the week.
#[derive(Serialize, ToSchema)]
pub(crate) struct HourCount {
    /// Day of the week: 1 is Monday.
    weekday: u8,
    /// Hour of the day in the time zone, from 0.
    hour: u8,
    #[serde(flatten)]
    compared: Compared,
}

/// Taps, updates and submissions of a period.
#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub(crate) struct ReportView {
    /// Start of the first bucket.
    since: Timestamp,
    /// End of the last bucket.
    until: Timestamp,
    /// Start of the period before, which has as many buckets; it ends at `since`.
    before_since: Timestamp,
    /// Length of a bucket.
    step: ReportStep,
    /// IANA name of the time zone.
    time_zone: String,
    /// All taps of visitors, without test taps.
    totals: ReportTotals,
    /// Taps that this application made in the period to test tags. No other number contains them.
    test_taps: TestTapCounts,
    /// All buckets, the oldest first.
    buckets: Vec<BucketCount>,
    /// Counts by experience, most taps first.
    experiences: Vec<ExperienceCount>,
    /// Counts by group, each with everything below it, most taps first, at most 100: the groups
    /// directly below `group_id`, or all groups without a parent. Empty in a report of one tag.
    groups: Vec<GroupCount>,
    /// The 100 tags with most taps. They are counted from the interactions that are still kept. Null
    /// if the period has more than 200,000 taps.
    tags: Option<Vec<TagCount>>,
    /// Counts by verdict: verified, not verified, not checked.
    verdicts: Vec<VerdictCount>,
    /// Counts by the reason of the verdict, most taps first.
    reasons: Vec<ValueCount>,
    /// Counts by scan type: `n` NFC, `q` QR code, `u` bare URL.
    technologies: Vec<ValueCount>,
    /// Counts by the visitor's country: two letters.
    countries: Vec<ValueCount>,
    /// Counts by the operating system of the visitor's device.
    systems: Vec<ValueCount>,
    /// Counts by the first part of the visitor's language, such as `de`.
    languages: Vec<ValueCount>,
    /// Counts by hour of the week. Hours without taps are left out.
    hours: Vec<HourCount>,
    /// For one experience whose published version divides visitors into groups: counts by the
    /// groups of each condition, and by the remaining groups.
    split: Vec<SplitCount>,
    /// Whether all taps are counted. After an upgrade or a move, older taps are counted step by
    /// step.
    complete: bool,
}

impl ReportView {
    pub(super) fn new(found: &Found, split: Vec<SplitCount>) -> Self {
        let Found { range, report, .. } = found;
        let buckets = &range.buckets;
        let begin = |hour| CountSpan::Hour.begin(hour);
        let experiences = by(report, Dimension::Experience).into_iter();
        let experiences = experiences.map(|ValueCount { value, compared }| {
            let experience_id = value.parse().ok();
            let name = experience_id.and_then(|id| report.names.get(&id).cloned());
            ExperienceCount {
                experience_id,
                name,
                compared,
            }
        });
        let groups = report.groups.iter().map(|group| GroupCount {
            group_id: group.group_id,
            kind: group.kind,
            name: group.name.clone(),
            compared: group.counts.into(),
        });
        let tags = report.tags.as_ref().map(|tags| {
            let tags = tags.iter().map(|found| TagCount {
                tag: found.tag.clone(),
                count: found.count,
                visitors: found.visitors,
            });
            tags.collect()
        });
        Self {
            since: begin(buckets.first()),
            until: begin(buckets.end()),
            before_since: begin(buckets.before()),
            step: buckets.step(),
            time_zone: buckets.time_zone().name().to_owned(),
            totals: found.totals(),
            test_taps: report.test_taps.0,
            buckets: found.buckets().collect(),
            experiences: experiences.collect(),
            groups: groups.collect(),
            tags,
            verdicts: verdicts(report),
            reasons: by(report, Dimension::Reason),
            technologies: by(report, Dimension::Technology),
            countries: by(report, Dimension::Country),
            systems: by(report, Dimension::System),
            languages: by(report, Dimension::Language),
            hours: hours(report),
            split,
            complete: report.complete,
        }
    }
}

impl Found {
    pub(super) fn totals(&self) -> ReportTotals {
        let (now, before) = self.report.totals();
        let visitors = &self.report.visitors;
        let sums = |count, visitors, before| Sums {
            count,
            visitors,
            programs: self.programs(self.range.hours(before)),
        };
        ReportTotals {
            now: sums(now, visitors.total, false),
            before: sums(before, visitors.before, true),
        }
    }

    fn buckets(&self) -> impl Iterator<Item = BucketCount> {
        let buckets = self.range.buckets.hours().enumerate();
        buckets.map(|(bucket, hours)| BucketCount {
            at: CountSpan::Hour.begin(hours.0),
            sums: self.bucket(bucket, hours),
        })
    }

    /// The sums of a bucket with these hours.
    pub(super) fn bucket(&self, bucket: usize, hours: (i64, i64)) -> Sums {
        let report = &self.report;
        Sums {
            count: report.buckets.get(&bucket).copied().unwrap_or_default(),
            visitors: report.visitors.buckets.get(&bucket).copied(),
            programs: self.programs(hours),
        }
    }

    /// Previews for programs in these hours; `None` if they are not known.
    fn programs(&self, (first, end): (i64, i64)) -> Option<u64> {
        let previews = self.previews.as_ref()?;
        Some(
            previews
                .range(first..end)
                .map(|(_, previews)| previews)
                .sum(),
        )
    }
}

impl ReportTotals {
    pub(super) const fn parts(&self) -> (Sums, Sums) {
        (self.now, self.before)
    }
}

/// Counts of taps whose visitors are not known.
impl From<Count> for Sums {
    fn from(count: Count) -> Self {
        Self {
            count,
            visitors: None,
            programs: None,
        }
    }
}

impl From<&TagResults> for Sums {
    fn from(tag: &TagResults) -> Self {
        Self {
            visitors: tag.visitors,
            ..Self::from(tag.count)
        }
    }
}

impl Sums {
    /// Taps, updates, submissions, visitors and programs; `None` if not known.
    pub(super) const fn numbers(&self) -> [Option<u64>; 5] {
        let Count {
            taps,
            updates,
            submissions,
        } = self.count;
        [
            Some(taps),
            Some(updates),
            Some(submissions),
            self.visitors,
            self.programs,
        ]
    }
}

/// The counts of each verdict, also if there are none: of the period and of the period before.
pub(super) fn by_verdict(report: &Report) -> [(VerificationState, (Count, Count)); 3] {
    VerificationState::ALL.map(|verdict| {
        let is_of = |reason: Reason| reason.verification() == verdict;
        let sum = report.sum(|dimension, value| {
            dimension == Dimension::Reason && Reason::from_name(value).is_some_and(is_of)
        });
        (verdict, sum)
    })
}

fn verdicts(report: &Report) -> Vec<VerdictCount> {
    let counts = by_verdict(report).map(|(verdict, sum)| VerdictCount {
        verdict,
        compared: sum.into(),
    });
    counts.into()
}

/// The values of a dimension, most taps first.
fn by(report: &Report, dimension: Dimension) -> Vec<ValueCount> {
    let of = report.values.iter();
    let of = of.filter(|((found, _), _)| *found == dimension);
    let mut counts: Vec<_> = of
        .map(|((_, value), counts)| ValueCount {
            value: value.clone(),
            compared: (*counts).into(),
        })
        .collect();
    // The sort is stable, so equal counts keep their order.
    counts.sort_by_key(|count| std::cmp::Reverse(count.compared.now.taps));
    counts
}

fn hours(report: &Report) -> Vec<HourCount> {
    let mut hours: Vec<_> = by(report, Dimension::Hour)
        .into_iter()
        .filter_map(|ValueCount { value, compared }| {
            let number: u8 = value.parse().ok()?;
            Some(HourCount {
                weekday: number / 24 + 1,
                hour: number % 24,
                compared,
            })
        })
        .collect();
    hours.sort_by_key(|hour| (hour.weekday, hour.hour));
    hours
}
