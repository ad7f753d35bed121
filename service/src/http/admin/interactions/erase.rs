//! `DELETE /admin/v1/tags/{id}/traces`, and of interactions without a tag.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::audit::Note;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound, Written};
use crate::id::TagId;
use crate::service::Service;

/// Erase a tag's personal traces
///
/// Erases who came to the tag: its visitors, and of each of its interactions the client, the
/// country, system, language and group, whether the visitor had come before, and the values that an update wrote. Interactions,
/// verdicts and counts stay, because counters and statistics follow from them, and so do the tag's
/// current variables, which are the owner's to delete. Of the audit log the values go that
/// administrators gave the tag; who changed it, when and from where stays. It works for a deleted
/// tag, too.
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
    erase(&service, Some(tag)).await
}

/// Erase the personal traces of interactions without a tag
///
/// The same for the taps of inlays that were on no tag.
#[utoipa::path(
    delete, path = "/interactions/no-tag/traces", tag = "interactions",
    responses((status = NO_CONTENT, description = "Erased"), Written, Common)
)]
pub(crate) async fn erase_traces_of_no_tag(
    State(service): State<Arc<Service>>,
) -> Result<StatusCode, ApiError> {
    erase(&service, None).await
}

async fn erase(service: &Service, tag: Option<TagId>) -> Result<StatusCode, ApiError> {
    let storage = &service.storage;
    match tag {
        Some(tag) => {
            let recorded = storage.erase_audit(tag).await?;
            recorded.ok_or(ApiError::NotFound("tag"))?;
        }
        None => storage.record(Note::default()).await?,
    }
    let mut from = storage.erase_history(tag, None).await?;
    while from.is_some() {
        from = storage.erase_history(tag, from).await?;
    }
    // Last, with what webhooks keep: until then deliveries are made of what the history says.
    while storage
        .erase_visitors(tag)
        .await?
        .ok_or(ApiError::NotFound("tag"))?
    {}
    Ok(StatusCode::NO_CONTENT)
}
