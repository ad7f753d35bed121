//! `GET /admin/v1/encodings/{id}`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::EncodingView;
use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::clock::Timestamp;
use domain::id::EncodingId;

/// An encoding with the names and statuses of its commands.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeEncoding {
    #[serde(flatten)]
    encoding: EncodingView,
    /// The commands that were sent, in their order, without their data.
    exchanges: Vec<EncodingExchange>,
}

/// A command that was sent to the chip.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingExchange {
    /// When its answer was reported.
    at: Timestamp,
    /// Name of the command.
    name: String,
    /// The status word of its answer, in hexadecimal; null without an answer.
    status: Option<String>,
}

/// Get an encoding
#[utoipa::path(
    get, path = "/encodings/{id}", tag = "encodings", params(("id" = EncodingId, Path)),
    responses((status = OK, body = WholeEncoding), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<EncodingId>,
) -> Result<Json<WholeEncoding>, ApiError> {
    let found = service.storage.encoding(id).await?;
    let encoding = found.as_ref().and_then(EncodingView::of);
    let encoding = encoding.ok_or(ApiError::NotFound("encoding"))?;
    let exchanges = service.storage.encoding_exchanges(id).await?;
    let exchanges = exchanges
        .into_iter()
        .map(|(at, exchange)| EncodingExchange {
            at,
            name: exchange.name,
            status: exchange.status.map(|status| format!("{status:04X}")),
        });
    let exchanges = exchanges.collect();
    Ok(Json(WholeEncoding {
        encoding,
        exchanges,
    }))
}
