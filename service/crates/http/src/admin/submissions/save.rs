//! `POST /admin/v1/submissions/{id}/save`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Conflicting, NotFound, Written};
use domain::id::SubmissionId;
use domain::submission::Submission;

/// Save a refused submission
///
/// Writes its values to the variables of the tag, like its form would have done, and sends webhook
/// events. If the problem persists, the answer is 409 with `code: "not_savable"`, and explains the
/// solution.
#[utoipa::path(
    post, path = "/submissions/{id}/save", tag = "submissions", params(("id" = SubmissionId, Path)),
    responses((status = OK, body = Submission), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn save(
    Asked(service): Asked,
    Id(id): Id<SubmissionId>,
) -> Result<Json<Submission>, ApiError> {
    let saved = service.storage.save_submission(id).await?;
    saved.map(Json).ok_or(ApiError::NotFound("submission"))
}
