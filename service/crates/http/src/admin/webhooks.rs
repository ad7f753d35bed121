//! `/admin/v1/webhooks`: endpoints for events.

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
use super::extract::edited::Edited;
use crate::error::ApiError;
use app::service::Service;
use domain::id::WebhookId;
use domain::revision::{Precondition, Revised as _};
use domain::scope::Scope;
use domain::webhook::Webhook;
use storage::StorageError;

/// The webhook, if it exists within the caller's reach.
async fn found(service: &Service, id: WebhookId) -> Result<Webhook, ApiError> {
    let found = service.storage.webhook(id).await?;
    found.ok_or(ApiError::NotFound("webhook"))
}

/// The states of a webhook that the requester may handle: a token without the scope `read` handles
/// only webhooks for alerts. The permission is checked for the webhook that is read here, so only
/// this revision may be handled.
async fn permitted(
    service: &Service,
    requester: &Requester,
    id: WebhookId,
) -> Result<Precondition, ApiError> {
    if requester.rights().allow(Scope::Read) {
        return Ok(Precondition::None);
    }
    let seen = found(service, id).await?;
    if seen.fields.tells_of_tags() {
        return Err(ApiError::Scope(Scope::Read));
    }
    Ok(Precondition::OneOf(vec![seen.revision()]))
}

/// Refuses requests about past or future deliveries of a webhook if the token lacks read access.
/// This includes webhooks for alerts, because they may have had other events before.
async fn needs_read(
    service: &Service,
    requester: &Requester,
    id: WebhookId,
) -> Result<(), ApiError> {
    found(service, id).await?;
    requester.needs(Scope::Read)
}

/// The current state of a webhook, for a client that expected another one.
async fn current(
    service: &Service,
    id: WebhookId,
) -> Result<Option<Edited<Webhook>>, StorageError> {
    Ok(service.storage.webhook(id).await?.map(Edited::from))
}
