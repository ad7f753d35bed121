//! `/admin/v1/simulator/clock`: the clock of the simulated world.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common};
use app::service::Service;
use domain::audit::Note;
use domain::clock::{Millis, Timestamp};

/// The current time of the simulated world.
#[derive(Serialize, ToSchema)]
pub(crate) struct SimulatedClock {
    /// Current time of the simulated world.
    now: Timestamp,
    /// Milliseconds by which it is ahead of the real time.
    offset_ms: i64,
}

/// A step of the simulated clock.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdvanceSimulated {
    /// Milliseconds to move the clock forward.
    #[schema(value_type = u64, maximum = 4_294_967_295_u32)]
    advance_ms: u32,
}

/// Get the time of the simulated world
#[utoipa::path(
    get, path = "/simulator/clock", tag = "simulator",
    responses((status = OK, body = SimulatedClock), Common)
)]
pub(crate) async fn clock(Asked(service): Asked) -> Result<Json<SimulatedClock>, ApiError> {
    shown(&service).await
}

/// Move the time of the simulated world forward
///
/// From now on the clock is ahead, but only for simulated interactions: their rolling keys expire
/// earlier.
#[utoipa::path(
    post, path = "/simulator/clock", tag = "simulator", request_body = AdvanceSimulated,
    responses((status = OK, body = SimulatedClock), BadBody, Common)
)]
pub(crate) async fn advance(
    Asked(service): Asked,
    Body(AdvanceSimulated { advance_ms }): Body<AdvanceSimulated>,
) -> Result<Json<SimulatedClock>, ApiError> {
    let note = Note::done(&json!({"advance_ms": advance_ms}));
    service.storage.record(note).await?;
    let span = Millis::new(advance_ms.into());
    service.storage.advance_simulated(span).await?;
    shown(&service).await
}

async fn shown(service: &Service) -> Result<Json<SimulatedClock>, ApiError> {
    Ok(Json(SimulatedClock {
        now: service.now_in(true).await?,
        offset_ms: service.storage.simulated_offset().get(),
    }))
}
