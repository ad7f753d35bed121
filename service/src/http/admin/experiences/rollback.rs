//! `POST /admin/v1/experiences/{id}/rollback`.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::experience::Experience;
use crate::http::admin::body::Body;
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{
    ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written,
};
use crate::id::ExperienceId;
use crate::service::Service;

/// The version to return to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rollback {
    /// The version whose content is to be published again.
    #[schema(minimum = 1)]
    version: u32,
}

/// Publish an earlier version again
///
/// Its content becomes a new version, to which taps lead from now on. If that content is already
/// published, nothing changes. The draft becomes the same, unless it has unpublished changes: those
/// are kept.
#[utoipa::path(
    post, path = "/experiences/{id}/rollback", tag = "experiences",
    params(("id" = ExperienceId, Path)), request_body = Rollback,
    responses(
        (status = OK, body = Experience),
        NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common
    )
)]
pub(crate) async fn rollback(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    IfMatch(expected): IfMatch,
    Body(Rollback { version }): Body<Rollback>,
) -> Result<Edited<Experience>, ApiError> {
    let experience = service
        .storage
        .roll_back_experience_if(id, version, expected)
        .await;
    let experience = unless_changed(experience, super::current(&service, id)).await?;
    experience
        .map(Edited::from)
        .ok_or(ApiError::NotFound("experience"))
}
