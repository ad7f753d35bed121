//! The period of a report or of statistics, divided into buckets.

use crate::error::ApiError;
use app::service::Service;
use domain::clock::{Millis, Timestamp};
use domain::field_error::FieldError;
use domain::report::Bucket;
use domain::world::World;

/// Maximum number of buckets in an answer: six weeks of hours, almost three years of days.
const BUCKETS_MAX: i64 = 1_000;
/// The default period.
const RANGE: Millis = Millis::days(7);

/// The requested period, widened to whole buckets: the first bucket, and the one after the last.
///
/// # Errors
/// If the period is empty or has too many buckets.
pub(in crate::admin) async fn buckets(
    service: &Service,
    (since, until): (Option<Timestamp>, Option<Timestamp>),
    bucket: Bucket,
    world: World,
) -> Result<(i64, i64), ApiError> {
    let until = match until {
        Some(until) => until,
        None => service.now_in(world != World::Real).await?,
    };
    let since = since.unwrap_or_else(|| until.minus(RANGE));
    if since >= until {
        return Err(ApiError::Invalid(FieldError::of(
            "since",
            "since must be before until.",
        )));
    }
    let (first, end) = (bucket.of(since), bucket.of(until.minus(Millis::new(1))) + 1);
    if end - first > BUCKETS_MAX {
        let why = format!(
            "This stretch of time has more than {BUCKETS_MAX} buckets. Ask for days, or for less."
        );
        return Err(ApiError::Invalid(FieldError::of("bucket", why)));
    }
    Ok((first, end))
}
