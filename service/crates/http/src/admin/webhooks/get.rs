//! `GET /admin/v1/webhooks/{id}`.

use super::found;
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::WebhookId;
use domain::webhook::Webhook;

/// Get a webhook
#[utoipa::path(
    get, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = OK, body = Webhook), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<WebhookId>,
) -> Result<Edited<Webhook>, ApiError> {
    Ok(Edited::from(found(&service, id).await?))
}
