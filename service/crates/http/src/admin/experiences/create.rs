//! `POST /admin/v1/experiences`.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ExperienceMembers, saved};
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::state::AppState;
use domain::experience::Experience;
use domain::scope::Scope;

/// An experience to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExperience {
    #[serde(flatten)]
    members: ExperienceMembers,
    /// Whether to leave the experience unpublished.
    #[serde(default)]
    #[schema(required = false)]
    draft: bool,
}

/// Create an experience
///
/// The experience is published as version 1, which needs the scope `publish`, unless `draft` is
/// true.
#[utoipa::path(
    post, path = "/experiences", tag = "experiences", request_body = NewExperience,
    responses(
        (status = CREATED, body = Experience, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved experience, in words"))),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    State(state): State<AppState>,
    Asked(service): Asked,
    requester: Requester,
    Body(NewExperience { members, draft }): Body<NewExperience>,
) -> Result<(StatusCode, HeaderMap, Edited<Experience>), ApiError> {
    if !draft {
        requester.needs(Scope::Publish)?;
    }
    let fields = members.check(None).map_err(ApiError::Invalid)?;
    let storage = &service.storage;
    let experience = storage.insert_experience(fields, !draft).await?;
    let (warning, experience) = saved(&state, experience);
    Ok((StatusCode::CREATED, warning, experience))
}
