//! `DELETE /admin/v1/experiences/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written};
use domain::id::ExperienceId;

/// Delete an experience
///
/// Fails while tags lead to the experience; the error contains their number.
#[utoipa::path(
    delete, path = "/experiences/{id}", tag = "experiences", params(("id" = ExperienceId, Path)),
    responses((status = NO_CONTENT, description = "Deleted"), NotFound, Conflicting, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_experience_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("experience"))
}
