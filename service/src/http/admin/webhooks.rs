//! `/admin/v1/webhooks`.

mod attempts;
mod create;
mod delete;
mod get;
mod list;
mod secrets;
mod send;
mod update;

pub(super) use attempts::*;
pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use secrets::*;
pub(super) use send::*;
pub(super) use update::*;

use super::Requester;
use super::edited::Edited;
use crate::http::error::ApiError;
use crate::id::WebhookId;
use crate::scope::Scope;
use crate::service::Service;
use crate::storage::StorageError;
use crate::webhook::Webhook;

/// The endpoint, if there is one within reach.
async fn found(service: &Service, id: WebhookId) -> Result<Webhook, ApiError> {
    let found = service.storage.webhook(id).await?;
    found.ok_or(ApiError::NotFound("webhook"))
}

/// Refuses a request about what was sent to an endpoint, or will be, if its token may not read: also
/// a webhook of alerts may have had other events before.
async fn needs_read(
    service: &Service,
    requester: &Requester,
    id: WebhookId,
) -> Result<(), ApiError> {
    found(service, id).await?;
    requester.needs(Scope::Read)
}

/// The endpoint as it is, for who saw it otherwise.
async fn current(
    service: &Service,
    id: WebhookId,
) -> Result<Option<Edited<Webhook>>, StorageError> {
    Ok(service.storage.webhook(id).await?.map(Edited::from))
}
