//! `POST /admin/v1/inlays`.

use axum::http::StatusCode;

use super::view::InlayView;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::inlays::InlayRequest;

/// Create an inlay
///
/// Keys are write-only: Tapdesk never shows them again. The UID of a deleted inlay can be used
/// again. Codes that were accepted with the same keys are not accepted a second time.
#[utoipa::path(
    post, path = "/inlays", tag = "inlays",
    request_body = InlayRequest,
    responses((status = CREATED, body = InlayView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(body): Body<InlayRequest>,
) -> Result<(StatusCode, Edited<InlayView>), ApiError> {
    let inlay = body.seal(&service).await?;
    let inlay = service.storage.insert_inlay(inlay).await?;
    let inlay = Edited::shown_as(inlay, InlayView::from);
    Ok((StatusCode::CREATED, inlay))
}
