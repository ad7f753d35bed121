//! `GET /admin/v1/experiences/{id}`.

use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::experience::Experience;
use domain::id::ExperienceId;

/// Get an experience
///
/// `target_url` and `blocks` are the draft. The published content is the version
/// `published_version`.
#[utoipa::path(
    get, path = "/experiences/{id}", tag = "experiences", params(("id" = ExperienceId, Path)),
    responses((status = OK, body = Experience), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
) -> Result<Edited<Experience>, ApiError> {
    let experience = service.storage.experience(id).await?;
    experience
        .map(Edited::from)
        .ok_or(ApiError::NotFound("experience"))
}
