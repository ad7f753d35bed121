//! `GET /admin/v1/notifications/{id}`.

use super::{NotificationView, edited};
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::NotificationId;

/// Get a notification
#[utoipa::path(
    get, path = "/notifications/{id}", tag = "notifications",
    params(("id" = NotificationId, Path)),
    responses((status = OK, body = NotificationView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<NotificationId>,
) -> Result<Edited<NotificationView>, ApiError> {
    let found = service.storage.notification(id).await?;
    edited(&service, found.ok_or(ApiError::NotFound("notification"))?)
}
