//! `DELETE /admin/v1/webhooks/{id}`.

use axum::http::StatusCode;

use super::permitted;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound, Written};
use domain::id::WebhookId;
use storage::{Conflict, StorageError};

/// Delete a webhook
///
/// Nothing more is sent to the webhook. Its waiting events and its log are deleted. A token without
/// the scope `read` can only delete a webhook for alerts.
#[utoipa::path(
    delete, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<WebhookId>,
) -> Result<StatusCode, ApiError> {
    loop {
        let expected = permitted(&service, &requester, id).await?;
        match service.storage.delete_webhook(id, expected).await {
            Ok(Some(())) => return Ok(StatusCode::NO_CONTENT),
            Ok(None) => return Err(ApiError::NotFound("webhook")),
            // The webhook was changed meanwhile, perhaps to get tag events, so check it again.
            Err(StorageError::Conflict(Conflict::Changed(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
