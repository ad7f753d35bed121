//! `GET /admin/v1/tags/{id}/effective`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::group::Effective;
use domain::id::TagId;

/// Get the values of a tag as visitors get them
///
/// Each value has the group that gives it; `group_id` is null for the tag's own value, and for a
/// default. Variables are never inherited, so they are not here.
#[utoipa::path(
    get, path = "/tags/{id}/effective", tag = "tags", params(("id" = TagId, Path)),
    responses((status = OK, body = Effective), NotFound, Common)
)]
pub(crate) async fn effective(
    Asked(service): Asked,
    Id(id): Id<TagId>,
) -> Result<Json<Effective>, ApiError> {
    let effective = service.storage.effective(id).await?;
    effective.map(Json).ok_or(ApiError::NotFound("tag"))
}
