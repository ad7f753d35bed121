//! `GET /admin/v1/inlays/{id}`.

use super::view::InlayView;
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::InlayId;

/// Get an inlay
#[utoipa::path(
    get, path = "/inlays/{id}", tag = "inlays", params(("id" = InlayId, Path)),
    responses((status = OK, body = InlayView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<InlayId>,
) -> Result<Edited<InlayView>, ApiError> {
    let inlay = service.storage.inlay(id).await?;
    let inlay = inlay.ok_or(ApiError::NotFound("inlay"))?;
    Ok(Edited::shown_as(inlay, InlayView::from))
}
