//! `GET /admin/v1/submissions/{id}`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::SubmissionId;
use domain::submission::Submission;

/// Get a submission
#[utoipa::path(
    get, path = "/submissions/{id}", tag = "submissions", params(("id" = SubmissionId, Path)),
    responses((status = OK, body = Submission), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<SubmissionId>,
) -> Result<Json<Submission>, ApiError> {
    let submission = service.storage.submission(id).await?;
    submission.map(Json).ok_or(ApiError::NotFound("submission"))
}
