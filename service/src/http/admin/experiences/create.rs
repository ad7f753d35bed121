//! `POST /admin/v1/experiences`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ExperienceMembers;
use crate::experience::Experience;
use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::scope::Scope;
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
/// It is published as version 1, which needs the scope `publish`, unless `draft` is true.
#[utoipa::path(
    post, path = "/experiences", tag = "experiences", request_body = NewExperience,
    responses(
        (status = CREATED, body = Experience),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Body(NewExperience { members, draft }): Body<NewExperience>,
) -> Result<(StatusCode, Edited<Experience>), ApiError> {
    if !draft {
        requester.needs(Scope::Publish)?;
    }
    let fields = members.check().map_err(ApiError::Invalid)?;
    let experience = service.storage.insert_experience(fields, !draft).await?;
    Ok((StatusCode::CREATED, experience.into()))
}
