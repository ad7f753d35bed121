//! `POST /admin/v1/notifications/{id}/test`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::recipient;
use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use app::notifications::{self, Tested};
use domain::audit::Note;
use domain::id::NotificationId;
use domain::mail::MailStep;

/// The result of a test message.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotificationTest {
    /// Whether all recipients got it.
    delivered: bool,
    /// The result for each recipient.
    recipients: Vec<TestedRecipient>,
}

/// The result of a test message for one recipient.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestedRecipient {
    /// Mail address of the recipient; null for a chat.
    recipient: Option<String>,
    /// The step that failed; null if the message was delivered.
    step: Option<MailStep>,
    /// The error for people; null if the message was delivered.
    error: Option<String>,
}

impl From<Tested> for TestedRecipient {
    fn from(tested: Tested) -> Self {
        Self {
            recipient: recipient(tested.recipient),
            step: tested.step,
            error: tested.error,
        }
    }
}

/// Send a test message
///
/// Sends a message to all recipients at once, without repetitions, also if the notification is
/// switched off, and says which step failed.
#[utoipa::path(
    post, path = "/notifications/{id}/test", tag = "notifications",
    params(("id" = NotificationId, Path)),
    responses((status = OK, body = NotificationTest), NotFound, Written, Common)
)]
pub(crate) async fn test(
    Asked(service): Asked,
    Id(id): Id<NotificationId>,
) -> Result<Json<NotificationTest>, ApiError> {
    let found = service.storage.notification(id).await?;
    found.ok_or(ApiError::NotFound("notification"))?;
    service.storage.record(Note::default()).await?;
    let tested = notifications::test(&service, id).await?;
    let tested = tested.ok_or(ApiError::NotFound("notification"))?;
    Ok(Json(NotificationTest {
        delivered: tested.iter().all(|one| one.error.is_none()),
        recipients: tested.into_iter().map(Into::into).collect(),
    }))
}
