//! `PATCH /admin/v1/webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;

use super::current;
use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use crate::id::WebhookId;
use crate::service::Service;
use crate::storage::WebhookEdit;
use crate::webhook::{Webhook, WebhookFields};

/// The members of a webhook in a patch.
type WebhookPatch = Partial<WebhookFields>;

/// Change a webhook
///
/// If it is switched on, it continues where it was: what happened meanwhile is sent. After a
/// restore, or a move to another database, it begins at that moment.
#[utoipa::path(
    patch, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body(content = WebhookPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Webhook), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Id(id): Id<WebhookId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Webhook>, ApiError> {
    let private = service.settings().private_webhooks;
    let edit: WebhookEdit = Box::new(move |fields| {
        let fields: WebhookFields = patch.apply(&fields)?;
        Ok(fields.check(private)?)
    });
    let webhook = service.storage.edit_webhook(id, edit, expected).await;
    let webhook = unless_changed(webhook, current(&service, id)).await?;
    let webhook = webhook.ok_or(ApiError::NotFound("webhook"))?;
    Ok(Edited::from(webhook))
}
