//! `POST /admin/v1/experiences/{id}/preview`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::countries;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound};
use crate::state::AppState;
use app::tap::{self, Preview, PreviewedTap};
use domain::experience::Content;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, TagId};
use storage::Conflict;

/// The result of a tap, with warnings.
#[derive(Serialize, ToSchema)]
pub(crate) struct Previewed {
    #[serde(flatten)]
    preview: Preview,
    /// Warnings about the content, for people: macros that can have no value, which cannot be
    /// saved, or countries that no visitor can come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// Preview an experience
///
/// Shows the result of a tap as if the draft, or the `content` in the request, were published: a
/// redirect, or the page that the visitor would see. Nothing is recorded, and no rolling key is
/// issued: `ROLLING_KEY` appears instead.
#[utoipa::path(
    post, path = "/experiences/{id}/preview", tag = "experiences",
    params(("id" = ExperienceId, Path)), request_body = PreviewedTap,
    responses((status = OK, body = Previewed), NotFound, Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    State(state): State<AppState>,
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    Body(mut tap): Body<PreviewedTap>,
) -> Result<Json<Previewed>, ApiError> {
    let experience = service.storage.experience(id).await?;
    let experience = experience.ok_or(ApiError::NotFound("experience"))?;
    let content = match tap.content.take() {
        Some(content) => Content::try_from(content)
            .map_err(|error| ApiError::Invalid(FieldError::from(error).within("content")))?,
        None => experience.content,
    };
    match (tap.tag_id, &mut tap.sample) {
        (Some(_), None) => {}
        (None, Some(sample)) => {
            sample.slug = std::mem::take(&mut sample.slug).or_generate(&*service.entropy);
            sample
                .validate()
                .map_err(|error| ApiError::Invalid(FieldError::from(error).within("sample")))?;
        }
        _ => {
            let words = "A preview is of a tag or of a sample: give tag_id or sample.";
            return Err(ApiError::Invalid(FieldError::of("tag_id", words)));
        }
    }
    let sampled = tap.sample.as_ref().and_then(|sample| sample.group_id);
    for group in [tap.group_id, sampled].into_iter().flatten() {
        if service.storage.group(group).await?.is_none() {
            let (noun, id) = ("group", group.get());
            return Err(Conflict::Missing { noun, id }.into());
        }
    }
    let missing = |id: TagId| {
        ApiError::from(Conflict::Missing {
            noun: "tag",
            id: id.get(),
        })
    };
    let tag = tap.tag_id;
    // The simulated tap can read all tags, but the caller may not.
    if let Some(tag) = tag
        && service.storage.tag(tag).await?.is_none()
    {
        return Err(missing(tag));
    }
    let preview = tap::preview(&service, id, &content, tap).await?;
    let preview = preview.ok_or_else(|| tag.map_or(ApiError::Internal, missing))?;
    let macros = content.check_macros().err().map(|error| error.to_string());
    let country = countries::warning(&state, &content);
    Ok(Json(Previewed {
        preview,
        warnings: macros.into_iter().chain(country).collect(),
    }))
}
