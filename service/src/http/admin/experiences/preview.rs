//! `POST /admin/v1/experiences/{id}/preview`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::experience::Content;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, NotFound};
use crate::id::ExperienceId;
use crate::service::Service;
use crate::storage::Conflict;
use crate::tap::{self, Preview, PreviewedTap};

/// Preview an experience
///
/// The result of a tap as if the draft, or the `content` in the request, was published: a redirect,
/// or the page as its visitor would see it. Nothing is recorded, and no rolling key is issued:
/// `ROLLING_KEY` stands in its place.
#[utoipa::path(
    post, path = "/experiences/{id}/preview", tag = "experiences",
    params(("id" = ExperienceId, Path)), request_body = PreviewedTap,
    responses((status = OK, body = Preview), NotFound, Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    State(service): State<Arc<Service>>,
    Id(id): Id<ExperienceId>,
    Body(mut tap): Body<PreviewedTap>,
) -> Result<Json<Preview>, ApiError> {
    let experience = service.storage.experience(id).await?;
    let experience = experience.ok_or(ApiError::NotFound("experience"))?;
    let content = match tap.content.take() {
        Some(content) => Content::try_from(content)
            .map_err(|error| ApiError::Invalid(FieldError::from(error).within("content")))?,
        None => experience.content,
    };
    let missing = Conflict::Missing {
        noun: "tag",
        id: tap.tag_id.0,
    };
    // The tap below sees all tags, its previewer perhaps not.
    if service.storage.tag(tap.tag_id).await?.is_none() {
        return Err(missing.into());
    }
    let preview = tap::preview(&service, id, &content, tap).await?;
    preview.map(Json).ok_or_else(|| missing.into())
}
