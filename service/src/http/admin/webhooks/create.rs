//! `POST /admin/v1/webhooks`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::scope::Scope;
use crate::service::Service;
use crate::webhook::{Secret, Webhook, WebhookFields};

/// A webhook that was just created.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedWebhook {
    #[serde(flatten)]
    webhook: Webhook,
    /// What signs its requests. It is never shown again.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]+=*$")]
    secret: String,
}

/// Create a webhook
///
/// What happens from now on is sent to the URL, as the `webhooks` of this document describe it:
/// each event at least once, signed as Standard Webhooks 1.0 has it. A request that fails is
/// repeated for three days, and for as long as the webhook takes nothing, with the same
/// `webhook-id` and the same body; redirects are failures. After five days of failures it is off.
/// Only this answer shows the secret: store it. A token without the scope `read` can choose alerts
/// alone, and nothing to `include` in them. The webhook of a token that is limited to experiences gets
/// their events alone, and no alerts.
#[utoipa::path(
    post, path = "/webhooks", tag = "webhooks", request_body = WebhookFields,
    responses((status = CREATED, body = CreatedWebhook), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Body(fields): Body<WebhookFields>,
) -> Result<(StatusCode, Edited<CreatedWebhook>), ApiError> {
    let fields = fields
        .check(
            service.settings().private_webhooks,
            &requester.rights().reach(),
        )
        .map_err(ApiError::Invalid)?;
    if fields.tells_of_tags() {
        requester.needs(Scope::Read)?;
    }
    let secret = Secret::generate(&*service.entropy);
    let wrapped = secret.wrap(&service.keyring, &*service.entropy)?;
    let webhook = service.storage.insert_webhook(fields, wrapped).await?;
    let created = Edited::shown_as(webhook, |webhook| CreatedWebhook {
        webhook,
        secret: secret.expose(),
    });
    Ok((StatusCode::CREATED, created))
}
