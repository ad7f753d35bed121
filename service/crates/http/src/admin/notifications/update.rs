//! `PATCH /admin/v1/notifications/{id}`.

use super::{NotificationView, current, edited};
use crate::admin::Asked;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, NotFound, Written};
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::NotificationId;
use domain::notification::{Channel, NotificationFields};
use storage::{NotificationEdit, SealedNotification};

/// A merge patch of the members of a notification.
type NotificationPatch = Partial<NotificationFields>;

/// A channel in its stored form, with the wrapped URL of a chat.
type SealedChannel = (Channel, Option<Vec<u8>>);

/// A channel in its stored form; `None` if it is the present one: a URL that is sealed again is other
/// bytes, which would be a change.
fn sealed(
    service: &Service,
    present: &SealedNotification,
    channel: Channel,
) -> Result<Option<SealedChannel>, ApiError> {
    let chat = present.chat.as_deref();
    let opened = present
        .fields
        .channel
        .clone()
        .opened(chat, &service.keyring);
    if opened.is_ok_and(|opened| opened == channel) {
        return Ok(None);
    }
    let sealed = channel.sealed(&service.keyring, &*service.entropy)?;
    Ok(Some(sealed))
}

/// Change a notification
///
/// The `channel` is replaced as a whole; a recipient that is taken away gets nothing more. A
/// notification that is switched off forgets the messages that wait. Switched on, it begins at that
/// moment. The `kind` does not change.
#[utoipa::path(
    patch, path = "/notifications/{id}", tag = "notifications",
    params(("id" = NotificationId, Path)),
    request_body(content = NotificationPatch, content_type = "application/merge-patch+json"),
    responses(
        (status = OK, body = NotificationView),
        NotFound, ChangedMeanwhile, Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<NotificationId>,
    IfMatch(expected): IfMatch,
    mut patch: Patch,
) -> Result<Edited<NotificationView>, ApiError> {
    let has_channel = patch.names().any(|name| name == "channel");
    let channel: Option<Channel> = patch.take("channel")?;
    if has_channel && channel.is_none() {
        let why = "channel cannot be null. Leave it out to keep what is there.";
        return Err(ApiError::Invalid(FieldError::of("channel", why)));
    }
    let private = service.settings().private_webhooks;
    let present = service.storage.notification(id).await?;
    let present = present.ok_or(ApiError::NotFound("notification"))?.sealed;
    let channel = match channel {
        Some(channel) => {
            let channel = channel.check(private).map_err(ApiError::Invalid)?;
            sealed(&service, &present, channel)?
        }
        None => None,
    };
    let edit: NotificationEdit = Box::new(move |before: SealedNotification| {
        let mut fields: NotificationFields = patch.apply(&before.fields)?;
        let mut chat = before.chat;
        if let Some((channel, wrapped)) = &channel {
            fields.channel = channel.clone();
            chat.clone_from(wrapped);
        }
        Ok(SealedNotification {
            fields: fields.check()?,
            chat,
        })
    });
    let notification = service.storage.edit_notification(id, edit, expected).await;
    let notification = unless_changed(notification, current(&service, id)).await?;
    edited(
        &service,
        notification.ok_or(ApiError::NotFound("notification"))?,
    )
}
