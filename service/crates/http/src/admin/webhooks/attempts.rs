//! `GET /admin/v1/webhooks/{id}/attempts`.

use axum::Json;

use super::needs_read;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Invalid, NotFound};
use domain::id::WebhookId;
use domain::webhook::Attempt;

/// List a webhook's attempts
///
/// The newest first. Attempts are kept with their event: the last 1,000 events of a webhook and all
/// waiting ones, at most as long as the data that the event is about. Also needs the scope `read`.
#[utoipa::path(
    get, path = "/webhooks/{id}/attempts", tag = "webhooks",
    params(("id" = WebhookId, Path), PageParams),
    responses((status = OK, body = Page<Attempt>), NotFound, Invalid, Common)
)]
pub(crate) async fn attempts(
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<WebhookId>,
    list: List<i64>,
) -> Result<Json<Page<Attempt>>, ApiError> {
    needs_read(&service, &requester, id).await?;
    let found = service
        .storage
        .webhook_attempts(id, list.after, list.and_one_more())
        .await?;
    let found = found.ok_or(ApiError::NotFound("webhook"))?;
    Ok(Json(list.page(found, |attempt| attempt.id)))
}
