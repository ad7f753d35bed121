//! `GET /admin/v1/experiences/{id}/versions`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Invalid, NotFound};
use domain::experience::Version;
use domain::id::ExperienceId;

/// List the versions of an experience
///
/// Lists all published versions, the newest first. A version never changes.
#[utoipa::path(
    get, path = "/experiences/{id}/versions", tag = "experiences",
    params(("id" = ExperienceId, Path), PageParams),
    responses((status = OK, body = Page<Version>), NotFound, Invalid, Common)
)]
pub(crate) async fn versions(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
    list: List<u32>,
) -> Result<Json<Page<Version>>, ApiError> {
    let versions = service
        .storage
        .versions(id, list.after, list.and_one_more())
        .await?
        .ok_or(ApiError::NotFound("experience"))?;
    Ok(Json(list.page(versions, |version| version.version)))
}
