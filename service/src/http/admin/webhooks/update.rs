//! `PATCH /admin/v1/webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;

use super::{current, found};
use crate::http::admin::Requester;
use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use crate::id::WebhookId;
use crate::revision::{Precondition, Revised as _};
use crate::scope::Scope;
use crate::service::Service;
use crate::storage::WebhookEdit;
use crate::webhook::{Webhook, WebhookFields};

/// The members of a webhook in a patch.
type WebhookPatch = Partial<WebhookFields>;

/// Change a webhook
///
/// If it is switched on, it continues where it was: what happened meanwhile is sent. After a
/// restore, or a move to another database, it begins at that moment: what waited before is not sent.
/// Nor is what waits of types that it does not get any more. A token without the scope `read` can
/// change a webhook of alerts alone. Whose events a webhook gets stays as its maker's token had it.
#[utoipa::path(
    patch, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body(content = WebhookPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Webhook), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Id(id): Id<WebhookId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Webhook>, ApiError> {
    let private = service.settings().private_webhooks;
    let before = found(&service, id).await?;
    let expected = if requester.rights().allow(Scope::Read) {
        expected
    } else {
        let after: WebhookFields = patch.apply(&before.fields).map_err(ApiError::Invalid)?;
        if before.fields.tells_of_tags() || after.tells_of_tags() {
            return Err(ApiError::Scope(Scope::Read));
        }
        // What it is allowed to change is what was looked at, and nothing that it became since.
        let seen = expected.check(Some(&before)).map(|()| before.revision());
        Precondition::OneOf(seen.into_iter().collect())
    };
    let reach = before.reach();
    let edit: WebhookEdit = Box::new(move |fields| {
        let fields: WebhookFields = patch.apply(&fields)?;
        Ok(fields.check(private, &reach)?)
    });
    let webhook = service.storage.edit_webhook(id, edit, expected).await;
    let webhook = unless_changed(webhook, current(&service, id)).await?;
    let webhook = webhook.ok_or(ApiError::NotFound("webhook"))?;
    Ok(Edited::from(webhook))
}
