//! `DELETE /admin/v1/encodings/{id}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::encode;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound, Written};
use crate::id::EncodingId;
use crate::service::Service;

/// Give up an encoding
///
/// Its state becomes `abandoned`. The keys that its chip may have are kept, so that the chip can be encoded or
/// wiped later. An encoding that is over stays as it is.
#[utoipa::path(
    delete, path = "/encodings/{id}", tag = "encodings", params(("id" = EncodingId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn abandon(
    State(service): State<Arc<Service>>,
    Id(id): Id<EncodingId>,
) -> Result<StatusCode, ApiError> {
    encode::abandon(&service, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
