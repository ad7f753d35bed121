//! `PATCH /admin/v1/webhooks/{id}`.

use super::{current, found};
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use domain::id::WebhookId;
use domain::revision::{Precondition, Revised as _};
use domain::scope::Scope;
use domain::webhook::{Webhook, WebhookFields};
use storage::WebhookEdit;

/// A merge patch of the members of a webhook.
type WebhookPatch = Partial<WebhookFields>;

/// Change a webhook
///
/// A webhook that is switched on again continues at its last position: events since then are sent.
/// After a restore, or a move to another database, it starts at that moment, and older waiting
/// events are not sent. Waiting events of types that it no longer gets are not sent either. A token
/// without the scope `read` can only change a webhook for alerts. The experiences of the creator's
/// token limit the webhook permanently.
#[utoipa::path(
    patch, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body(content = WebhookPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Webhook), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
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
        // The permission was checked for the webhook that was read, so change only that revision.
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
