//! `DELETE /admin/v1/groups/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written};
use domain::id::GroupId;

/// Delete a group
///
/// Fails while groups or tags are in it; the error contains their numbers.
#[utoipa::path(
    delete, path = "/groups/{id}", tag = "groups", params(("id" = GroupId, Path)),
    responses((status = NO_CONTENT, description = "Deleted"), NotFound, Conflicting, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<GroupId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_group_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("group"))
}
