//! `GET /admin/v1/stats`: the taps of a period.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::period::{Period, buckets};
use super::extract::query::Query;
use crate::admin::Asked;
use crate::error::{ApiError, Common, Invalid};
use app::service::Service;
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::GroupId;
use domain::interaction::{Reason, TagName, VerificationState};
use domain::report::{Buckets, CountSpan, ReportRange, ReportStep, TestTapCounts};
use domain::world::World;
use storage::{CLIENTS_KEPT, Overview};

/// The period of the statistics, and the length of its buckets.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
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
    /// Only taps of tags in this group, or in a group below it. A tap counts for the group that its
    /// tag was in when it was counted, a few seconds after the tap; all other numbers are of the
    /// tags that are in the group now. Such counts are kept by the hour somewhat longer than
    /// interactions.
    group_id: Option<GroupId>,
    /// `false` for real taps, `true` for simulated taps, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// Number of taps by verdict.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
pub(crate) struct Taps {
    verified: u64,
    not_verified: u64,
    not_checked: u64,
}

impl Taps {
    fn add(&mut self, reason: Reason, taps: u64) {
        let sum = match reason.verification() {
            VerificationState::Verified => &mut self.verified,
            VerificationState::NotVerified => &mut self.not_verified,
            VerificationState::NotChecked => &mut self.not_checked,
        };
        *sum += taps;
    }
}

/// The taps of one bucket.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketTaps {
    /// Start of the bucket.
    at: Timestamp,
    #[serde(flatten)]
    taps: Taps,
}

/// The taps of one tag.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagTaps {
    #[serde(flatten)]
    tag: TagName,
    taps: u64,
}

/// The taps with one reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReasonTaps {
    reason: Reason,
    taps: u64,
}

/// Counts of problems. Zero is good.
#[derive(Serialize, ToSchema)]
pub(crate) struct Attention {
    /// Taps with a one-time URL that was used before.
    replays: u64,
    /// Verified taps with a counter gap: earlier reads of their inlay never reached the service.
    counter_gaps: u64,
    /// Tags in use that were tapped but lead to no experience.
    unset_tags: u64,
    /// Inlays with factory keys, whose codes prove nothing.
    factory_keys: u64,
    /// Inlays whose counter has reached its maximum.
    used_up: u64,
    /// Tags with an inlay that reported an open or broken tamper loop.
    opened_tags: u64,
    /// Notifications with a message that waits for longer than an hour, or with a recipient whose last
    /// message within seven days was given up, and notifications that a restore switched off.
    failing_notifications: u64,
    /// Free disk space of a SQLite database, in mebibytes, if it is below the setting
    /// `disk_low_mebibytes` or below 64; null otherwise. 0 means that the disk is full.
    low_disk_mebibytes: Option<u64>,
}

/// The taps of a period.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Start of the first bucket.
    since: Timestamp,
    /// End of the last bucket.
    until: Timestamp,
    /// Length of a bucket.
    step: ReportStep,
    /// IANA name of the time zone.
    time_zone: String,
    /// All buckets, the oldest first.
    buckets: Vec<BucketTaps>,
    /// Sum of all buckets, without test taps.
    totals: Taps,
    /// Taps that this application made in the period to test tags. No other number contains them.
    test_taps: TestTapCounts,
    /// Counts by reason. Reasons without taps are left out.
    reasons: Vec<ReasonTaps>,
    /// Previews of tags that link preview programs loaded. They are not taps. Null for a group,
    /// because a preview belongs to none.
    previews: Option<u64>,
    /// The ten tags that were tapped most.
    top_tags: Vec<TagTaps>,
    /// Counts of problems to look at.
    attention: Attention,
    /// Whether `top_tags`, `counter_gaps` and `unset_tags` cover the whole period. Otherwise they
    /// cover only its newest 50,000 interactions.
    complete: bool,
}

/// Get taps over time
///
/// Counts taps in buckets of an hour, a day, a week or a month, in total, by reason and by tag, and
/// lists problems. The period is widened to whole buckets, at most 1,000, and has at most ten years.
#[utoipa::path(
    get, path = "/stats", tag = "stats", params(StatsQuery),
    responses((status = OK, body = Stats), Invalid, Common)
)]
pub(crate) async fn stats(
    Asked(service): Asked,
    Query(query): Query<StatsQuery>,
) -> Result<Json<Stats>, ApiError> {
    let period = Period {
        since: query.since,
        until: query.until,
        step: query.step,
        time_zone: query.time_zone.as_deref(),
        world: query.simulated,
    };
    let (buckets, now) = buckets(&service, period).await?;
    let (first, end) = (buckets.first(), buckets.end());
    let (since, until) = (CountSpan::Hour.begin(first), CountSpan::Hour.begin(end));
    let figures = match query.group_id {
        Some(group) => Figures::of_group(&service, &buckets, group, query.simulated, now).await?,
        None => Figures::of_all(&service, &buckets, query.simulated).await?,
    };
    let Figures {
        overview,
        test_taps,
        previews,
    } = figures;
    let notifications = service.storage.notification_trouble().await?;
    let empty = buckets.hours().map(|(hour, _)| BucketTaps {
        at: CountSpan::Hour.begin(hour),
        taps: Taps::default(),
    });
    let mut stats = Stats {
        since,
        until,
        step: buckets.step(),
        time_zone: buckets.time_zone().name().to_owned(),
        buckets: empty.collect(),
        totals: Taps::default(),
        test_taps,
        reasons: Vec::new(),
        previews,
        top_tags: Vec::new(),
        attention: Attention {
            replays: 0,
            counter_gaps: overview.counter_gaps,
            unset_tags: overview.unset_tags,
            factory_keys: overview.factory_keys,
            used_up: overview.used_up,
            opened_tags: overview.opened_tags,
            failing_notifications: notifications.failing + notifications.restored,
            low_disk_mebibytes: low_disk(&service),
        },
        complete: overview.complete,
    };
    stats.count(&buckets, &overview);
    Ok(Json(stats))
}

/// The figures of a period, with test taps apart from all other counts.
struct Figures {
    overview: Overview,
    test_taps: TestTapCounts,
    previews: Option<u64>,
}

impl Figures {
    async fn of_all(service: &Service, buckets: &Buckets, world: World) -> Result<Self, ApiError> {
        let (first, end) = (buckets.first(), buckets.end());
        let (since, until) = (CountSpan::Hour.begin(first), CountSpan::Hour.begin(end));
        let mut overview = service.storage.overview(since, until, world).await?;
        let (tests, previews) = match world {
            World::Simulated => (Vec::new(), 0),
            World::Real | World::Both => (
                service.storage.test_taps(since, until).await?,
                service.previews(first, end).await?.values().sum::<u64>(),
            ),
        };
        let mut test_taps = TestTapCounts::default();
        for taps in &tests {
            test_taps.add(taps.origin, taps.taps);
            let same = |(at, reason, _): &&mut (Timestamp, Reason, u64)| {
                (*at, *reason) == (taps.at, taps.reason)
            };
            if let Some((_, _, count)) = overview.counts.iter_mut().find(same) {
                *count = count.saturating_sub(taps.taps);
            }
        }
        overview.counts.retain(|(_, _, taps)| *taps > 0);
        Ok(Self {
            overview,
            test_taps,
            previews: Some(previews),
        })
    }

    async fn of_group(
        service: &Service,
        buckets: &Buckets,
        group: GroupId,
        world: World,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        let range = ReportRange {
            buckets: buckets.clone(),
            experience: None,
            group: Some(group),
            tag: None,
            world,
            clients_since: now.minus(CLIENTS_KEPT),
        };
        let found = service.storage.overview_of_group(range).await?;
        if let Some(hour) = found.hours_since
            && buckets.first() < hour
        {
            let since = CountSpan::Hour.begin(hour);
            let why = format!(
                "The taps of a group are counted by the hour since {since}. Choose a later period, or a report of \
                 the group: its daily counts are kept for ever."
            );
            return Err(ApiError::Invalid(FieldError::of("since", why)));
        }
        Ok(Self {
            overview: found.overview,
            test_taps: found.test_taps,
            previews: None,
        })
    }
}

/// Free space, in mebibytes, that is always reported as low, whatever the setting. A backup or a
/// vacuum needs more.
const ALWAYS_LOW_MEBIBYTES: u64 = 64;

fn low_disk(service: &Service) -> Option<u64> {
    let limit = u64::from(service.settings().disk_low_mebibytes).max(ALWAYS_LOW_MEBIBYTES);
    let free = service.storage.free_space()? >> 20;
    (free < limit).then_some(free)
}

impl Stats {
    fn count(&mut self, buckets: &Buckets, overview: &Overview) {
        for (at, reason, taps) in &overview.counts {
            let place = buckets.of(CountSpan::Hour.of(*at));
            if let Some(bucket) = place.and_then(|place| self.buckets.get_mut(place)) {
                bucket.taps.add(*reason, *taps);
            }
            self.totals.add(*reason, *taps);
            if *reason == Reason::Replayed {
                self.attention.replays += taps;
            }
            match self.reasons.iter_mut().find(|sum| sum.reason == *reason) {
                Some(sum) => sum.taps += taps,
                None => self.reasons.push(ReasonTaps {
                    reason: *reason,
                    taps: *taps,
                }),
            }
        }
        let top_tags = overview.top_tags.iter().cloned();
        self.top_tags = top_tags.map(|(tag, taps)| TagTaps { tag, taps }).collect();
    }
}
