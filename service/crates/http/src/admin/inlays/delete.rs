//! `DELETE /admin/v1/inlays/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Invalid, NotFound, Written};
use domain::id::InlayId;

/// Delete an inlay
///
/// Codes of the inlay no longer verify. If the inlay is created again with the same keys, codes
/// that were accepted before stay used up.
#[utoipa::path(
    delete, path = "/inlays/{id}", tag = "inlays", params(("id" = InlayId, Path)),
    responses((status = NO_CONTENT), NotFound, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<InlayId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_inlay_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted.ok_or(ApiError::NotFound("inlay"))?;
    Ok(StatusCode::NO_CONTENT)
}
