//! `DELETE /admin/v1/tags/{id}/traces`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound, Written};
use crate::id::TagId;
use crate::service::Service;

/// Erase a tag's personal traces
///
/// Erases who came to the tag: its visitors, and of each of its interactions the client, the
/// country, whether the visitor had come before, and the values that an update wrote. Interactions,
/// verdicts and counts stay, and so do the tag's current variables. It works for a deleted tag,
/// too.
///
/// A long history is erased step by step, so that taps continue. If the request is interrupted,
/// some of it is done: send it again.
#[utoipa::path(
    delete, path = "/tags/{id}/traces", tag = "tags", params(("id" = TagId, Path)),
    responses((status = NO_CONTENT, description = "Erased"), NotFound, Written, Common)
)]
pub(crate) async fn erase_traces(
    State(service): State<Arc<Service>>,
    Id(tag): Id<TagId>,
) -> Result<StatusCode, ApiError> {
    let storage = &service.storage;
    while storage
        .erase_visitors(tag)
        .await?
        .ok_or(ApiError::NotFound("tag"))?
    {}
    let mut from = storage.erase_history(tag, None).await?;
    while from.is_some() {
        from = storage.erase_history(tag, from).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
