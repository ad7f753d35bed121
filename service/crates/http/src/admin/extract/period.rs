//! The period of a report or of statistics, divided into buckets.

use crate::error::ApiError;
use app::service::Service;
use domain::clock::{Millis, Timestamp};
use domain::report::{Buckets, ReportStep, TimeZone};
use domain::world::World;

/// The length of a period without `since`.
const RANGE: Millis = Millis::days(7);

/// The parameters of a period.
pub(in crate::admin) struct Period<'a> {
    pub(in crate::admin) since: Option<Timestamp>,
    pub(in crate::admin) until: Option<Timestamp>,
    pub(in crate::admin) step: ReportStep,
    /// An IANA name; UTC by default.
    pub(in crate::admin) time_zone: Option<&'a str>,
    pub(in crate::admin) world: World,
}

/// The requested period, widened to whole buckets, and the present moment of its world.
///
/// # Errors
/// If the period is empty or has too many buckets, or if there is no such time zone.
pub(in crate::admin) async fn buckets(
    service: &Service,
    period: Period<'_>,
) -> Result<(Buckets, Timestamp), ApiError> {
    let time_zone = period.time_zone.map_or(Ok(TimeZone::UTC), TimeZone::named);
    let time_zone = time_zone.map_err(ApiError::Invalid)?;
    let now = service.now_in(period.world != World::Real).await?;
    let until = period.until.unwrap_or(now);
    let since = period.since.unwrap_or_else(|| until.minus(RANGE));
    let buckets = Buckets::new(period.step, time_zone, since, until);
    Ok((buckets.map_err(ApiError::Invalid)?, now))
}
