//! `/admin/v1/notifications`: alerts and reports for people.

mod create;
mod delete;
mod get;
mod list;
mod test;
mod update;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use test::*;
pub(super) use update::*;

use serde::Serialize;
use utoipa::ToSchema;

use super::extract::edited::Edited;
use crate::error::ApiError;
use app::service::Service;
use domain::clock::Timestamp;
use domain::id::NotificationId;
use domain::notification::{Channel, NotificationFields};
use storage::{DeliveryFailure, Notification, StorageError};

/// A notification, with the state of its messages.
#[derive(Serialize, ToSchema)]
#[schema(as = Notification)]
pub(crate) struct NotificationView {
    /// Identifier of the notification.
    id: NotificationId,
    #[serde(flatten)]
    fields: NotificationFields,
    /// Why Tapdesk switched it off; null if its owner did, or if it is on.
    disabled: Option<NotificationDisabled>,
    /// Number of deliveries that wait for their next attempt.
    waiting: u64,
    /// When a recipient last got a message; null if none did in 30 days.
    last_sent_at: Option<Timestamp>,
    /// Deliveries of 30 days whose last attempt failed, the newest first, at most 20.
    failures: Vec<NotificationFailure>,
    /// When the notification was created.
    created_at: Timestamp,
}

/// The reason why Tapdesk switched off a notification.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NotificationDisabled {
    /// The database was restored or moved. The original may still send.
    Restored,
}

/// A delivery whose last attempt failed.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotificationFailure {
    /// Mail address of the recipient; null for a chat.
    recipient: Option<String>,
    /// Time of the last attempt.
    at: Timestamp,
    /// The reason, for people.
    error: String,
    /// Whether there is no further attempt: the recipient was refused for good, or five days are
    /// over.
    given_up: bool,
}

impl From<DeliveryFailure> for NotificationFailure {
    fn from(failure: DeliveryFailure) -> Self {
        Self {
            recipient: recipient(failure.recipient),
            at: failure.at,
            error: failure.error,
            given_up: failure.given_up,
        }
    }
}

/// A recipient as the API names it. A chat has no name.
fn recipient(name: String) -> Option<String> {
    Some(name).filter(|name| !name.is_empty())
}

/// A notification as the API shows it: with the whole URL of its chat.
fn view(service: &Service, found: &Notification) -> Result<NotificationView, ApiError> {
    let sealed = &found.sealed;
    let channel: Channel = sealed.fields.channel.clone();
    let channel = channel.opened(sealed.chat.as_deref(), &service.keyring)?;
    Ok(NotificationView {
        id: found.id,
        fields: NotificationFields {
            channel,
            ..sealed.fields.clone()
        },
        disabled: found.restored.then_some(NotificationDisabled::Restored),
        waiting: found.waiting,
        last_sent_at: found.last_sent_at,
        failures: found.failures.iter().cloned().map(Into::into).collect(),
        created_at: found.created_at,
    })
}

fn edited(service: &Service, found: Notification) -> Result<Edited<NotificationView>, ApiError> {
    let view = view(service, &found)?;
    Ok(Edited::shown_as(found, |_| view))
}

/// The current state of a notification, for a client that expected another one. Left out if the
/// chat's URL cannot be read.
async fn current(
    service: &Service,
    id: NotificationId,
) -> Result<Option<Edited<NotificationView>>, StorageError> {
    let found = service.storage.notification(id).await?;
    Ok(found.and_then(|found| edited(service, found).ok()))
}
