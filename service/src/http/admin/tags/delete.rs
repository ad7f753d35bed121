//! `DELETE /admin/v1/tags/{id}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound, Written};
use crate::id::TagId;
use crate::service::Service;
use crate::storage::TagChange;

/// Delete a tag
///
/// Its URL leads nowhere then, and its slug stays its own: `restore` of
/// `/tags/bulk` brings it back as it was.
#[utoipa::path(
    delete, path = "/tags/{id}", tag = "tags", params(("id" = TagId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Id(id): Id<TagId>,
) -> Result<StatusCode, ApiError> {
    let changed = service
        .storage
        .change_tags(vec![id], TagChange::Delete)
        .await?;
    if changed.is_empty() {
        Err(ApiError::NotFound("tag"))
    } else {
        Ok(StatusCode::NO_CONTENT)
    }
}
