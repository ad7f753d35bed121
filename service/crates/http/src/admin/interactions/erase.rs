//! `DELETE /admin/v1/tags/{id}/traces`, and the same for interactions without a tag.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use app::service::Service;
use domain::audit::Note;
use domain::id::TagId;

/// Erase a tag's personal traces
///
/// Erases personal data of the tag's visitors. Each of its interactions loses the client, country,
/// system, language and group, the mark whether the visitor had come before, and the values that an
/// update wrote. Interactions, verdicts and counts stay, because counters and statistics depend on
/// them. The tag's current variables also stay: the owner can delete them. No event contains those
/// of their values that a visitor entered. The audit log loses the values that administrators gave
/// the tag, but keeps who changed it, when and from where. This also works for a deleted tag.
///
/// A long history is erased step by step, so that taps continue. If the request is interrupted,
/// only a part is erased: send it again.
#[utoipa::path(
    delete, path = "/tags/{id}/traces", tag = "tags", params(("id" = TagId, Path)),
    responses((status = NO_CONTENT, description = "Erased"), NotFound, Written, Common)
)]
pub(crate) async fn erase_traces(
    Asked(service): Asked,
    Id(tag): Id<TagId>,
) -> Result<StatusCode, ApiError> {
    erase(&service, Some(tag)).await
}

/// Erase the personal traces of interactions without a tag
///
/// The same as for a tag, for taps of inlays that were not on a tag.
#[utoipa::path(
    delete, path = "/interactions/no-tag/traces", tag = "interactions",
    responses((status = NO_CONTENT, description = "Erased"), Written, Common)
)]
pub(crate) async fn erase_traces_of_no_tag(Asked(service): Asked) -> Result<StatusCode, ApiError> {
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
    // Erase visitors and webhook data last: until then, webhook deliveries are created from the
    // history.
    while storage
        .erase_visitors(tag)
        .await?
        .ok_or(ApiError::NotFound("tag"))?
    {}
    storage.forget_erased().await;
    Ok(StatusCode::NO_CONTENT)
}
