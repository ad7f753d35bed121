//! `/admin/v1/clock`: the service's time, only in test mode.

use std::time::Duration;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, NotFound};
use app::service::Service;
use domain::audit::Note;
use domain::clock::{Millis, Timestamp};
use domain::field_error::FieldError;

/// Maximum step of the clock per request: ten years.
const ADVANCE_MAX: Millis = Millis::days(10 * 365);

/// The service's current time.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClockView {
    now: Timestamp,
}

/// A step of the clock.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Advance {
    /// Milliseconds to move the clock forward, at most ten years.
    #[schema(maximum = 315_360_000_000_u64)]
    advance_ms: u64,
}

/// Get the service's time
///
/// Only in test mode (`TAPDESK_TEST_CLOCK=1`).
#[utoipa::path(
    get, path = "/clock", tag = "clock",
    responses((status = OK, body = ClockView), NotFound, Common)
)]
pub(crate) async fn get(Asked(service): Asked) -> Result<Json<ClockView>, ApiError> {
    moved(&service, Millis::ZERO).await
}

/// Move the service's time forward
///
/// Only in test mode. The clock continues from the new time: rolling keys expire, and old
/// interactions are removed. On SQLite, a restart returns to the real time. On PostgreSQL, the
/// clock moves for all nodes until a node starts outside test mode.
#[utoipa::path(
    post, path = "/clock", tag = "clock", request_body = Advance,
    responses((status = OK, body = ClockView), NotFound, BadBody, Common)
)]
pub(crate) async fn advance(
    Asked(service): Asked,
    Body(Advance { advance_ms }): Body<Advance>,
) -> Result<Json<ClockView>, ApiError> {
    let span = Millis::from(Duration::from_millis(advance_ms));
    if span > ADVANCE_MAX {
        return Err(ApiError::Invalid(FieldError::of(
            "advance_ms",
            "The clock is moved by at most ten years at once.",
        )));
    }
    if service.storage.advance(Millis::ZERO).await?.is_some() {
        let note = Note::done(&json!({"advance_ms": advance_ms}));
        service.storage.record(note).await?;
    }
    moved(&service, span).await
}

async fn moved(service: &Service, span: Millis) -> Result<Json<ClockView>, ApiError> {
    let now = service.storage.advance(span).await?;
    now.map(|now| Json(ClockView { now }))
        .ok_or(ApiError::NotFound("clock outside test mode"))
}
