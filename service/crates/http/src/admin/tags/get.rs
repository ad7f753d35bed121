//! `GET /admin/v1/tags/{id}`.

use super::TagView;
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::TagId;

/// Get a tag
#[utoipa::path(
    get, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    responses((status = OK, body = TagView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<TagId>,
) -> Result<Edited<TagView>, ApiError> {
    let tag = super::current(&service, id).await?;
    tag.ok_or(ApiError::NotFound("tag"))
}
