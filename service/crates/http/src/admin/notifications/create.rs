//! `POST /admin/v1/notifications`.

use axum::http::StatusCode;

use super::{NotificationView, edited};
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::notification::NotificationFields;
use storage::SealedNotification;

/// Create a notification
///
/// With the kind `alert`, the first alert is sent at once. Later ones come together, with counts, at
/// most once an hour, or once `every` day or week. A `report` is sent five minutes after a day or a week of the
/// time zone. Each recipient gets a mail of its own. A failed message is tried again for five days, at
/// least once an hour. A message that may have arrived is not sent again within an hour.
#[utoipa::path(
    post, path = "/notifications", tag = "notifications", request_body = NotificationFields,
    responses((status = CREATED, body = NotificationView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(fields): Body<NotificationFields>,
) -> Result<(StatusCode, Edited<NotificationView>), ApiError> {
    let fields = fields.check().map_err(ApiError::Invalid)?;
    let private = service.settings().private_webhooks;
    let channel = fields.channel.clone();
    let channel = channel.check(private).map_err(ApiError::Invalid)?;
    let (channel, chat) = channel.sealed(&service.keyring, &*service.entropy)?;
    let new = SealedNotification {
        fields: NotificationFields { channel, ..fields },
        chat,
    };
    let created = service.storage.insert_notification(new).await?;
    Ok((StatusCode::CREATED, edited(&service, created)?))
}
