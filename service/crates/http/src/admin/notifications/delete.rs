//! `DELETE /admin/v1/notifications/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use domain::id::NotificationId;

/// Delete a notification
///
/// Nothing more is sent, and messages that wait are deleted.
#[utoipa::path(
    delete, path = "/notifications/{id}", tag = "notifications",
    params(("id" = NotificationId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<NotificationId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_notification(id).await?;
    deleted.ok_or(ApiError::NotFound("notification"))?;
    Ok(StatusCode::NO_CONTENT)
}
