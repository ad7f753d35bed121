//! `GET /admin/v1/simulator/inlays/{id}`.

use axum::Json;

use super::view::VirtualInlayView;
use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::VirtualInlayId;

/// Get a virtual inlay
#[utoipa::path(
    get, path = "/simulator/inlays/{id}", tag = "simulator", params(("id" = VirtualInlayId, Path)),
    responses((status = OK, body = VirtualInlayView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<VirtualInlayId>,
) -> Result<Json<VirtualInlayView>, ApiError> {
    let chip = service.storage.virtual_inlay(id).await?;
    let chip = chip.ok_or(ApiError::NotFound("virtual inlay"))?;
    Ok(Json(chip.into()))
}
