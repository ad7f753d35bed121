//! `POST /admin/v1/webhooks`.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::scope::Scope;
use domain::webhook::{Secret, Webhook, WebhookFields};

/// A webhook right after its creation.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedWebhook {
    #[serde(flatten)]
    webhook: Webhook,
    /// The secret that signs its requests. It is never shown again.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]+=*$")]
    secret: String,
}

/// Create a webhook
///
/// Tapdesk sends events from now on to the URL, as described in the `webhooks` of this document:
/// each event at least once, signed according to Standard Webhooks 1.0. A failed request is
/// repeated for three days, and longer while the webhook accepts nothing, with the same
/// `webhook-id` and the same body. Redirects are failures. After five days of failures, the webhook
/// is switched off. Only this answer contains the secret: store it. A token without the scope
/// `read` can only choose alerts, without any `include`. The webhook of a token that is limited to
/// experiences only gets their events, and no alerts.
#[utoipa::path(
    post, path = "/webhooks", tag = "webhooks", request_body = WebhookFields,
    responses((status = CREATED, body = CreatedWebhook), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
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
