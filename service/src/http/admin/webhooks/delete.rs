//! `DELETE /admin/v1/webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, NotFound, Written};
use crate::id::WebhookId;
use crate::service::Service;

/// Delete a webhook
///
/// Nothing more is sent to it; what waits, and its log, are gone.
#[utoipa::path(
    delete, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Id(id): Id<WebhookId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_webhook(id).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("webhook"))
}
