//! `GET /admin/v1/reports`: the taps of a period and of the period before.

mod file;
mod split;
mod view;

use std::collections::BTreeMap;

use axum::Json;
use axum::http::Uri;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::period::{Period, buckets};
use super::extract::query::{Query, read};
use crate::admin::Asked;
use crate::admin::export::TableOptions;
use crate::error::{ApiError, Common, Invalid};
use crate::schema::Binary;
use app::service::Service;
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, TagId};
use domain::report::{CountSpan, Report, ReportRange, ReportStep};
use domain::world::World;
use storage::CLIENTS_KEPT;
use view::ReportView;

/// Filters of a report, and the length of its buckets.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// The start of the period; by default seven days before `until`.
    since: Option<Timestamp>,
    /// The end of the period; by default now.
    until: Option<Timestamp>,
    /// Length of a bucket. Days, weeks from Monday and months are those of the time zone.
    #[param(inline)]
    step: ReportStep,
    /// IANA name of the time zone, such as `Europe/Berlin`; by default `UTC`. Taps are counted by
    /// whole hours of UTC: where clocks differ by a part of an hour, a bucket begins with the first
    /// whole hour after midnight, in India at 00:30.
    time_zone: Option<String>,
    /// Only taps that led to this experience.
    experience_id: Option<ExperienceId>,
    /// Only taps of tags in this group, or in a group below it. A tap counts for the group that its
    /// tag was in when it was counted, a few seconds after the tap.
    group_id: Option<GroupId>,
    /// Only taps of this tag. They are counted from its interactions, as long as these are kept, and
    /// at most the newest 20,000 of both periods: `complete` is false if there are more.
    tag_id: Option<TagId>,
    /// `false` for real taps, `true` for simulated taps, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// Get a report
///
/// Counts taps, updates and submissions of a period and of the period before: in total, and by
/// bucket, experience, group, tag, verdict, scan type, country, system, language and hour of the
/// week. Test taps, and previews for programs, are counted separately. Updates and submissions count
/// at the time of their tap. Counts remain after taps are erased or expire: daily counts for ever,
/// hourly counts somewhat longer than interactions. The period is widened to whole buckets, at most
/// 1,000, and has at most ten years.
///
/// `visitors` counts different visitors. It is null where they are not known: clients are kept for
/// 30 days, and a period with more than 200,000 taps is not searched for them. A visitor of two tags
/// counts as two, because nobody can be followed from one tag to the next.
#[utoipa::path(
    get, path = "/reports", tag = "stats", params(ReportQuery),
    responses((status = OK, body = ReportView), Invalid, Common)
)]
pub(crate) async fn report(
    Asked(service): Asked,
    Query(query): Query<ReportQuery>,
) -> Result<Json<ReportView>, ApiError> {
    let found = find(&service, &query).await?;
    let split = match query.experience_id {
        Some(id) => split::counts(&service, id, &found.report).await?,
        None => Vec::new(),
    };
    Ok(Json(ReportView::new(&found, split)))
}

/// Export a report
///
/// The report as a file. The row `total` has all taps, and a row for each bucket has its name, such
/// as `2026-W13`, and its start in the time zone. Then there is a row for each value of each
/// dimension, with its name and with taps, updates and submissions of the period and of the period
/// before. `hour_of_week` counts hours of the time zone from the first hour of Monday.
/// `visitor_group` is one of the hundred groups of an experience that splits its visitors.
/// `test_taps` counts the taps that this application made, which are in no other row.
#[utoipa::path(
    get, path = "/reports/export", tag = "stats", params(ReportQuery, TableOptions),
    responses(
        (status = OK, content(
            (String = "text/csv; charset=utf-8"),
            (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
        Invalid, Common
    )
)]
pub(crate) async fn export(Asked(service): Asked, uri: Uri) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let options = read::<TableOptions>(query, TableOptions::has)?.0;
    let query = read::<ReportQuery>(query, |name| !TableOptions::has(name))?.0;
    let found = find(&service, &query).await?;
    Ok(options.answer("Report", "report", file::text(&found)))
}

/// A report, and its range.
struct Found {
    range: ReportRange,
    report: Report,
    /// Previews that programs requested in each hour; `None` if they are not known, because a
    /// preview belongs to no group, experience or tag.
    previews: Option<BTreeMap<i64, u64>>,
}

async fn find(service: &Service, query: &ReportQuery) -> Result<Found, ApiError> {
    let period = Period {
        since: query.since,
        until: query.until,
        step: query.step,
        time_zone: query.time_zone.as_deref(),
        world: query.simulated,
    };
    let (buckets, now) = buckets(service, period).await?;
    let range = ReportRange {
        buckets,
        experience: query.experience_id,
        group: query.group_id,
        tag: query.tag_id,
        world: query.simulated,
        clients_since: now.minus(CLIENTS_KEPT),
    };
    let report = service.storage.report(range.clone()).await?;
    if let Some(hour) = report.hours_since
        && range.needs_hours_before(hour)
    {
        let since = CountSpan::Hour.begin(hour);
        let why = format!(
            "Counts by the hour are kept since {since}, and this period, or the one before it, begins or ends \
             earlier within a day of UTC. Choose whole days of UTC: they are kept for ever."
        );
        return Err(ApiError::Invalid(FieldError::of("since", why)));
    }
    let previews = service.report_previews(&range).await?;
    Ok(Found {
        range,
        report,
        previews,
    })
}
