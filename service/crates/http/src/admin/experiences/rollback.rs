//! `POST /admin/v1/experiences/{id}/rollback`.

use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use crate::state::AppState;
use domain::experience::Experience;
use domain::id::ExperienceId;

/// The version to return to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rollback {
    /// Number of the version whose content is published again.
    #[schema(minimum = 1)]
    version: u32,
}

/// Publish an earlier version again
///
/// The content of the version becomes a new version, and taps lead to it from now on. If that
/// content is already published, nothing changes. The draft gets the same content, unless it has
/// unpublished changes: Tapdesk keeps those.
#[utoipa::path(
    post, path = "/experiences/{id}/rollback", tag = "experiences",
    params(("id" = ExperienceId, Path)), request_body = Rollback,
    responses(
        (status = OK, body = Experience, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved experience, in words"))),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn rollback(
    State(state): State<AppState>,
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    IfMatch(expected): IfMatch,
    Body(Rollback { version }): Body<Rollback>,
) -> Result<(HeaderMap, Edited<Experience>), ApiError> {
    let experience = service
        .storage
        .roll_back_experience_if(id, version, expected)
        .await;
    let experience = unless_changed(experience, super::current(&service, id)).await?;
    experience
        .map(|experience| super::saved(&state, experience))
        .ok_or(ApiError::NotFound("experience"))
}
