//! `DELETE /admin/v1/encodings/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use app::encoder;
use domain::id::EncodingId;

/// Abandon an encoding
///
/// Sets the state to `abandoned`. Tapdesk keeps the keys that the chip may have, so that it can be
/// encoded or wiped later. A finished encoding stays unchanged.
#[utoipa::path(
    delete, path = "/encodings/{id}", tag = "encodings", params(("id" = EncodingId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn abandon(
    Asked(service): Asked,
    Id(id): Id<EncodingId>,
) -> Result<StatusCode, ApiError> {
    encoder::abandon(&service, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
