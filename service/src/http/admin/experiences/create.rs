//! `POST /admin/v1/experiences`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ExperienceMembers;
use crate::experience::Experience;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::service::Service;

/// An experience to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExperience {
    #[serde(flatten)]
    members: ExperienceMembers,
    /// Leave it unpublished.
    #[serde(default)]
    #[schema(required = false)]
    draft: bool,
}

/// Create an experience
///
/// It is published as version 1, unless `draft` is true.
#[utoipa::path(
    post, path = "/experiences", tag = "experiences", request_body = NewExperience,
    responses(
        (status = CREATED, body = Experience),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(NewExperience { members, draft }): Body<NewExperience>,
) -> Result<(StatusCode, Edited<Experience>), ApiError> {
    let fields = members.check().map_err(ApiError::Invalid)?;
    let experience = service.storage.insert_experience(fields, !draft).await?;
    Ok((StatusCode::CREATED, experience.into()))
}
