//! `POST /admin/v1/experiences/{id}/preview`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::http::admin::body::Body;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, NotFound};
use crate::id::{ExperienceId, TagId};
use crate::interaction::Verification;
use crate::service::Service;
use crate::storage::Conflict;
use crate::tap::{Rehearsal, rehearse};

/// The tap to preview.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PreviewedTap)]
pub(crate) struct Tap {
    /// Whose properties the macros get. It need not lead to this experience.
    tag_id: TagId,
    /// What verification comes to.
    verification: Verification,
}

/// Preview an experience
///
/// What a tap of a tag would lead to if the draft were published. Nothing is
/// recorded, and no rolling key is issued: `ROLLING_KEY` stands in its place.
#[utoipa::path(
    post, path = "/experiences/{id}/preview", tag = "experiences",
    params(("id" = ExperienceId, Path)), request_body = Tap,
    responses((status = OK, body = Rehearsal), NotFound, Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    Body(tap): Body<Tap>,
) -> Result<Json<Rehearsal>, ApiError> {
    let experience = service.storage.experience(id).await?;
    let experience = experience.ok_or(ApiError::NotFound("experience"))?;
    let Tap {
        tag_id,
        verification,
    } = tap;
    let rehearsal = rehearse(&service, tag_id, &experience.content, verification).await?;
    rehearsal.map(Json).ok_or_else(|| {
        let (noun, id) = ("tag", tag_id.0);
        ApiError::Conflict(Conflict::Missing { noun, id }.to_string())
    })
}
