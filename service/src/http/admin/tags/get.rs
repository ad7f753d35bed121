//! `GET /admin/v1/tags/{id}`.

use std::sync::Arc;

use axum::extract::State;

use super::TagView;
use crate::http::admin::edited::Edited;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound};
use crate::id::TagId;
use crate::service::Service;

/// Get a tag
#[utoipa::path(
    get, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    responses((status = OK, body = TagView), NotFound, Common)
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Id(id): Id<TagId>,
) -> Result<Edited<TagView>, ApiError> {
    let tag = super::current(&service, id).await?;
    tag.ok_or(ApiError::NotFound("tag"))
}
