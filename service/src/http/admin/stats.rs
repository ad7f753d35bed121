//! `GET /admin/v1/stats`: the taps of a period.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::period::buckets;
use super::query::Query;
use crate::clock::Timestamp;
use crate::http::error::{ApiError, Common, Invalid};
use crate::interaction::{Reason, TagName, VerificationState};
use crate::report::Bucket;
use crate::service::Service;
use crate::storage::Overview;
use crate::world::World;

/// Which stretch of time, and how it is divided.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// The start of the period; by default seven days before `until`.
    since: Option<Timestamp>,
    /// The end of the period; by default now.
    until: Option<Timestamp>,
    /// How long each bucket is. Days are those of UTC.
    #[param(inline)]
    bucket: Bucket,
    /// `false` for the real world, `true` for the simulated one, `all` for both.
    #[param(inline)]
    simulated: World,
}

/// Taps by verdict.
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
    /// When the bucket begins.
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

/// The taps of one reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReasonTaps {
    reason: Reason,
    taps: u64,
}

/// What needs attention. Zero is good.
#[derive(Serialize, ToSchema)]
pub(crate) struct Attention {
    /// Taps with a one-time URL that was used before.
    replays: u64,
    /// Verified taps with a counter gap: reads of their inlay before them never reached the
    /// service.
    counter_gaps: u64,
    /// Tags in use that were tapped and lead to no experience.
    unset_tags: u64,
    /// Inlays with factory keys, whose codes prove nothing.
    factory_keys: u64,
    /// Inlays whose counter is at its end.
    used_up: u64,
    /// Tags of which an inlay reported an open or broken tamper loop.
    opened_tags: u64,
}

/// The taps of a period.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Where the first bucket begins.
    since: Timestamp,
    /// Where the last bucket ends.
    until: Timestamp,
    /// How long each bucket is.
    bucket: Bucket,
    /// Every bucket, the oldest first.
    buckets: Vec<BucketTaps>,
    /// All buckets together.
    totals: Taps,
    /// The same by reason; reasons without a tap are left out.
    reasons: Vec<ReasonTaps>,
    /// The ten tags that were tapped most.
    top_tags: Vec<TagTaps>,
    /// What needs attention.
    attention: Attention,
    /// Whether `top_tags`, `counter_gaps` and `unset_tags` cover the whole period;
    /// otherwise they cover only its newest 50,000 interactions.
    complete: bool,
}

/// Get taps over time
///
/// Taps in buckets of an hour or a day, in total, by reason and by tag, and what needs attention.
/// The period is widened to whole buckets, at most 1,000.
#[utoipa::path(
    get, path = "/stats", tag = "stats", params(StatsQuery),
    responses((status = OK, body = Stats), Invalid, Common)
)]
pub(crate) async fn stats(
    State(service): State<Arc<Service>>,
    Query(query): Query<StatsQuery>,
) -> Result<Json<Stats>, ApiError> {
    let bucket = query.bucket;
    let asked = (query.since, query.until);
    let (first, end) = buckets(&service, asked, bucket, query.simulated).await?;
    let (since, until) = (bucket.begin(first), bucket.begin(end));
    let overview = service
        .storage
        .overview(since, until, query.simulated)
        .await?;
    let buckets = (first..end).map(|number| BucketTaps {
        at: bucket.begin(number),
        taps: Taps::default(),
    });
    let mut stats = Stats {
        since,
        until,
        bucket,
        buckets: buckets.collect(),
        totals: Taps::default(),
        reasons: Vec::new(),
        top_tags: Vec::new(),
        attention: Attention {
            replays: 0,
            counter_gaps: overview.counter_gaps,
            unset_tags: overview.unset_tags,
            factory_keys: overview.factory_keys,
            used_up: overview.used_up,
            opened_tags: overview.opened_tags,
        },
        complete: overview.complete,
    };
    stats.count(&overview);
    Ok(Json(stats))
}

impl Stats {
    fn count(&mut self, overview: &Overview) {
        for (at, reason, taps) in &overview.counts {
            let place = self.bucket.of(*at) - self.bucket.of(self.since);
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            if let Some(bucket) = self.buckets.get_mut(place) {
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
