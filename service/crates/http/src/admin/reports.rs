//! `GET /admin/v1/reports`: the taps of a period and of the period before.

use axum::Json;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::export::{Format, cell, line};
use super::extract::period::buckets;
use super::extract::query::Query;
use crate::admin::Asked;
use crate::error::{ApiError, Common, Invalid};
use app::service::Service;
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::interaction::VISITOR_GROUPS;
use domain::report::{Bucket, Count, Dimension, Report, ReportRange, TestTapCounts};
use domain::world::World;

/// Filters of a report, and the length of its buckets.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// The start of the period; by default seven days before `until`.
    since: Option<Timestamp>,
    /// The end of the period; by default now.
    until: Option<Timestamp>,
    /// Length of a bucket. Days are UTC days.
    #[param(inline)]
    bucket: Bucket,
    /// Only taps that led to this experience.
    experience_id: Option<ExperienceId>,
    /// `false` for real taps, `true` for simulated taps, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// Taps, updates and submissions, with those of the period before.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Compared {
    #[serde(flatten)]
    now: Count,
    /// The same counts for the period before, which has the same length.
    before: Count,
}

impl From<(Count, Count)> for Compared {
    fn from((now, before): (Count, Count)) -> Self {
        Self { now, before }
    }
}

/// The taps of one bucket.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketCount {
    /// Start of the bucket.
    at: Timestamp,
    #[serde(flatten)]
    count: Count,
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
    /// Hour of the day in UTC, from 0.
    hour: u8,
    #[serde(flatten)]
    compared: Compared,
}

/// The taps of one share of the visitors of an experience.
#[derive(Serialize, ToSchema)]
pub(crate) struct SplitCount {
    /// The first visitor group of the share.
    from: u8,
    /// The group after the last one. The difference is the share in hundredths.
    until: u8,
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
    /// Start of the period before; it ends at `since`.
    before_since: Timestamp,
    /// Length of a bucket.
    bucket: Bucket,
    /// All taps of visitors, without test taps.
    totals: Compared,
    /// Taps that this application made in the period to test tags. No other number contains them.
    test_taps: TestTapCounts,
    /// All buckets, the oldest first.
    buckets: Vec<BucketCount>,
    /// Counts by experience, most taps first.
    experiences: Vec<ExperienceCount>,
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

/// Get a report
///
/// Counts taps, updates and submissions of a period and of the period before: in total, and by
/// bucket, experience, scan type, country, system, language and hour of the week. Test taps are
/// counted separately. Updates and submissions count at the time of their tap. Counts remain after
/// taps are erased or expire: daily counts for ever, hourly counts somewhat longer than
/// interactions. The period is widened to whole buckets, at most 1,000.
#[utoipa::path(
    get, path = "/reports", tag = "stats", params(ReportQuery),
    responses((status = OK, body = ReportView), Invalid, Common)
)]
pub(crate) async fn report(
    Asked(service): Asked,
    Query(query): Query<ReportQuery>,
) -> Result<Json<ReportView>, ApiError> {
    let (range, report) = read(&service, &query).await?;
    let split = match query.experience_id {
        Some(id) => split(&service, id, &report).await?,
        None => Vec::new(),
    };
    Ok(Json(ReportView::new(&range, &report, split)))
}

/// Export a report
///
/// The report as a file. It has a row for each value of each dimension, with taps, updates and
/// submissions of the period and of the period before. `hour_of_week` counts hours in UTC from the
/// first hour of Monday. `visitor_group` is one of the hundred groups of an experience that splits
/// its visitors. `test_taps` counts the taps that this application made, which are in no other row.
#[utoipa::path(
    get, path = "/reports/export", tag = "stats", params(ReportQuery),
    responses((status = OK, body = String, content_type = "text/csv; charset=utf-8"), Invalid, Common)
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Query(query): Query<ReportQuery>,
) -> Result<Response, ApiError> {
    const COLUMNS: [&str; 8] = [
        "dimension",
        "value",
        "taps",
        "updates",
        "submissions",
        "taps_before",
        "updates_before",
        "submissions_before",
    ];
    let (_, report) = read(&service, &query).await?;
    let mut text = Format::Csv.head(COLUMNS.into_iter());
    for ((dimension, value), counts) in &report.values {
        text.extend(row(dimension.as_str(), value, *counts));
    }
    let (now, before) = report.test_taps;
    let tests = [
        ("reader", now.reader, before.reader),
        ("kiosk", now.kiosk, before.kiosk),
    ];
    for (origin, now, before) in tests.iter().filter(|(_, now, before)| now + before > 0) {
        let counts = (Count::taps(*now), Count::taps(*before));
        text.extend(row("test_taps", origin, counts));
    }
    let headers = [
        (CONTENT_TYPE, Format::Csv.media_type()),
        (CONTENT_DISPOSITION, "attachment; filename=\"report.csv\""),
    ];
    Ok((headers, text).into_response())
}

/// One row of the file.
fn row(dimension: &str, value: &str, (now, before): (Count, Count)) -> Vec<u8> {
    let counts = [now, before].map(|count| [count.taps, count.updates, count.submissions]);
    let counts = counts.into_iter().flatten().map(|count| count.to_string());
    let cells = [dimension.to_owned(), value.to_owned()];
    let cells = cells.into_iter().chain(counts);
    line(cells.map(|text| cell(Some(&text.into()))))
}

async fn read(service: &Service, query: &ReportQuery) -> Result<(ReportRange, Report), ApiError> {
    let bucket = query.bucket;
    let asked = (query.since, query.until);
    let (first, end) = buckets(service, asked, bucket, query.simulated).await?;
    let range = ReportRange {
        bucket,
        first,
        end,
        experience: query.experience_id,
        world: query.simulated,
    };
    let report = service.storage.report(range).await?;
    if let Some(hour) = report.hours_since
        && range.needs_hours_before(hour)
    {
        let since = Bucket::Hour.begin(hour);
        let why = format!(
            "Counts by the hour are kept since {since}, and the period before this one begins earlier. Ask for \
             days: they are kept for ever."
        );
        return Err(ApiError::Invalid(FieldError::of("bucket", why)));
    }
    Ok((range, report))
}

/// The taps by the visitor groups that the published version of an experience distinguishes.
async fn split(
    service: &Service,
    id: ExperienceId,
    report: &Report,
) -> Result<Vec<SplitCount>, ApiError> {
    // An experience out of the caller's reach counts as not found.
    if service.storage.experience(id).await?.is_none() {
        return Ok(Vec::new());
    }
    let published = service.storage.published_now(id).await?;
    let mut arms = published.map_or_else(Default::default, |published| published.content.split());
    if arms.is_empty() {
        return Ok(Vec::new());
    }
    // Visitors without a condition get the remaining groups: one range for each gap.
    let mut next = 0;
    for (from, until) in arms.clone() {
        if from > next {
            arms.insert((next, from));
        }
        next = next.max(until);
    }
    if next < VISITOR_GROUPS {
        arms.insert((next, VISITOR_GROUPS));
    }
    let counts = arms.into_iter().map(|(from, until)| {
        let mut sum = (Count::default(), Count::default());
        for group in from..until {
            let value = (Dimension::Group, group.to_string());
            if let Some((now, before)) = report.values.get(&value) {
                sum.0 += *now;
                sum.1 += *before;
            }
        }
        SplitCount {
            from,
            until,
            compared: sum.into(),
        }
    });
    Ok(counts.collect())
}

impl ReportView {
    fn new(range: &ReportRange, report: &Report, split: Vec<SplitCount>) -> Self {
        let begin = |slot| range.bucket.begin(slot);
        let buckets = (range.first..range.end).map(|slot| BucketCount {
            at: begin(slot),
            count: report.slots.get(&slot).copied().unwrap_or_default(),
        });
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
        Self {
            since: begin(range.first),
            until: begin(range.end),
            before_since: begin(range.before()),
            bucket: range.bucket,
            totals: report.totals().into(),
            test_taps: report.test_taps.0,
            buckets: buckets.collect(),
            experiences: experiences.collect(),
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
