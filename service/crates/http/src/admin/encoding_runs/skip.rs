//! `POST /admin/v1/encoding-runs/{id}/skip`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Conflicting, NotFound, Written};
use app::encoder;
use domain::id::EncodingRunId;
use encoding::run::RunNext;

/// The result of a skip.
#[derive(Serialize, ToSchema)]
pub(crate) struct SkippedInRun {
    /// The tag that the next new chip gets.
    next: Option<RunNext>,
}

/// Skip the next tag of an encoding run
///
/// The next new chip gets the tag after it. Skipped tags follow when all other tags have an inlay.
#[utoipa::path(
    post, path = "/encoding-runs/{id}/skip", tag = "encodings", params(("id" = EncodingRunId, Path)),
    responses((status = OK, body = SkippedInRun), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn skip(
    Asked(service): Asked,
    Id(id): Id<EncodingRunId>,
) -> Result<Json<SkippedInRun>, ApiError> {
    let next = encoder::skip_of_run(&service, id).await?;
    Ok(Json(SkippedInRun { next }))
}
