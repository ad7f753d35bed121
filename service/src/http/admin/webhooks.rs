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

use super::edited::Edited;
use crate::id::WebhookId;
use crate::service::Service;
use crate::storage::StorageError;
use crate::webhook::Webhook;

/// The endpoint as it is, for who saw it otherwise.
async fn current(
    service: &Service,
    id: WebhookId,
) -> Result<Option<Edited<Webhook>>, StorageError> {
    Ok(service.storage.webhook(id).await?.map(Edited::from))
}
