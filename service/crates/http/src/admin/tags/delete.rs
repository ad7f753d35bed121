//! `DELETE /admin/v1/tags/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Invalid, NotFound, Written};
use domain::id::TagId;

/// Delete a tag
///
/// The URL of the tag no longer leads anywhere. Its slug stays reserved. `restore` of `/tags/bulk`
/// restores the tag.
#[utoipa::path(
    delete, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    responses((status = NO_CONTENT), NotFound, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<TagId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_tag_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted.ok_or(ApiError::NotFound("tag"))?;
    Ok(StatusCode::NO_CONTENT)
}
