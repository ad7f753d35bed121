//! `DELETE /admin/v1/simulator/inlays/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use domain::id::VirtualInlayId;

/// Delete a virtual inlay
///
/// Also deletes its inlay. The tag stays.
#[utoipa::path(
    delete, path = "/simulator/inlays/{id}", tag = "simulator", params(("id" = VirtualInlayId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<VirtualInlayId>,
) -> Result<StatusCode, ApiError> {
    let none = ApiError::NotFound("virtual inlay");
    let chip = service.storage.virtual_inlay(id).await?;
    let inlay = chip.ok_or_else(|| none.clone())?.inlay.id;
    let deleted = service.storage.delete_inlay(inlay).await?;
    deleted.ok_or(none)?;
    Ok(StatusCode::NO_CONTENT)
}
