//! `GET /admin/v1/webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;

use crate::http::admin::edited::Edited;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound};
use crate::id::WebhookId;
use crate::service::Service;
use crate::webhook::Webhook;

/// Get a webhook
#[utoipa::path(
    get, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = OK, body = Webhook), NotFound, Common)
)]
pub(crate) async fn get(
    State(service): State<Arc<Service>>,
    Id(id): Id<WebhookId>,
) -> Result<Edited<Webhook>, ApiError> {
    let webhook = service.storage.webhook(id).await?;
    let webhook = webhook.ok_or(ApiError::NotFound("webhook"))?;
    Ok(Edited::from(webhook))
}
