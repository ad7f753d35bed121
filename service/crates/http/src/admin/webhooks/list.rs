//! `GET /admin/v1/webhooks`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::error::{ApiError, Common, Invalid};
use domain::id::WebhookId;
use domain::webhook::Webhook;

/// List webhooks
///
/// The oldest first. A token that is limited to experiences sees the webhooks that only get events
/// of these.
#[utoipa::path(
    get, path = "/webhooks", tag = "webhooks", params(PageParams),
    responses((status = OK, body = Page<Webhook>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<WebhookId>,
) -> Result<Json<Page<Webhook>>, ApiError> {
    let found = service
        .storage
        .webhooks(list.after, list.and_one_more())
        .await?;
    Ok(Json(list.page(found, |webhook| webhook.id)))
}
