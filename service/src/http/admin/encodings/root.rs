//! `GET /admin/v1/encoding-root`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::error::{ApiError, Common};
use crate::service::Service;

/// The root that keys of encoded chips are derived from.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingRoot {
    /// When it was made; null before the first chip is encoded.
    created_at: Option<Timestamp>,
    /// When the first backup was made that has it and, sealed with a passphrase, the key that wraps it. Null if
    /// none has: without it nobody can open the chips again.
    backed_up_at: Option<Timestamp>,
    /// Earlier roots, which only open the chips that were encoded with them.
    retired: u32,
}

/// Get the encoding root
///
/// When it was made and first backed up. The root itself is never shown.
#[utoipa::path(
    get, path = "/encoding-root", tag = "encodings",
    responses((status = OK, body = EncodingRoot), Common)
)]
pub(crate) async fn root(
    State(service): State<Arc<Service>>,
) -> Result<Json<EncodingRoot>, ApiError> {
    let roots = service.storage.encoding_roots().await?;
    let active = roots.iter().find(|root| root.retired_at.is_none());
    let retired = roots
        .iter()
        .filter(|root| root.retired_at.is_some())
        .count();
    Ok(Json(EncodingRoot {
        created_at: active.map(|root| root.created_at),
        backed_up_at: active.and_then(|root| root.backed_up_at),
        retired: u32::try_from(retired).unwrap_or(u32::MAX),
    }))
}
