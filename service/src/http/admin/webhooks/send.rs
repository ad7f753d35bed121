//! `POST /admin/v1/webhooks/{id}/test` and `/resend`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::needs_read;
use crate::clock::Timestamp;
use crate::deliver::{self, TestError};
use crate::field_error::FieldError;
use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::id::WebhookId;
use crate::service::Service;
use crate::storage::Resend;

/// What came of a test event.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestResult {
    /// Its `webhook-id`.
    event_id: String,
    /// Whether the endpoint took it.
    delivered: bool,
    /// The status of the answer; null if there was none.
    status: Option<u16>,
    /// Why it failed, in words; null if it did not.
    error: Option<String>,
    /// The beginning of the answer's body, at most a kilobyte.
    response: String,
    /// How long it took, in milliseconds.
    duration_ms: u64,
}

/// Send a test event
///
/// Sends an event of the type `webhook.test`, at once and once, also to a webhook that is off. If it
/// fails, that counts for nothing: it switches no webhook off.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = OK, body = TestResult), NotFound, Written, Common)
)]
pub(crate) async fn test(
    State(service): State<Arc<Service>>,
    Id(id): Id<WebhookId>,
) -> Result<Json<TestResult>, ApiError> {
    let tested = deliver::test(&service, id)
        .await
        .map_err(|error| match error {
            TestError::Storage(error) => error.into(),
            TestError::Client(error) => {
                tracing::error!("{error}");
                ApiError::Internal
            }
        })?;
    let (event_id, outcome) = tested.ok_or(ApiError::NotFound("webhook"))?;
    Ok(Json(TestResult {
        event_id,
        delivered: outcome.failure.is_none(),
        status: outcome.status,
        error: outcome.failure.map(|failure| failure.why),
        response: outcome.response,
        duration_ms: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
    }))
}

/// What is sent again: one event, or all since a time.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendBody {
    /// The event's `webhook-id`.
    #[serde(default)]
    event_id: Option<String>,
    /// All that happened at this time or later.
    #[serde(default)]
    since: Option<Timestamp>,
}

/// Send events again
///
/// An event that is kept is sent as it was, with the same `webhook-id` and the same body: the last
/// 1,000 of a webhook, whatever their type. An older one is made again; its `webhook-id` then ends in `_r` and a number,
/// because its tag may have another name by now. Give `event_id` or `since`. To a webhook that is off
/// nothing is sent: 409, `code: "webhook_off"`. It needs the scope `read`, too.
#[utoipa::path(
    post, path = "/webhooks/{id}/resend", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = ResendBody,
    responses((status = ACCEPTED, description = "They are on their way"), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn resend(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Id(id): Id<WebhookId>,
    Body(body): Body<ResendBody>,
) -> Result<StatusCode, ApiError> {
    needs_read(&service, &requester, id).await?;
    let what = match (body.event_id, body.since) {
        (Some(event), None) => Resend::Event(event),
        (None, Some(since)) => Resend::Since(since),
        _ => {
            let why = "Give either event_id or since.";
            return Err(ApiError::Invalid(FieldError::whole(why)));
        }
    };
    match service.storage.resend_webhook(id, what).await? {
        Some(true) => Ok(StatusCode::ACCEPTED),
        Some(false) => Err(ApiError::NotFound("event of this webhook")),
        None => Err(ApiError::NotFound("webhook")),
    }
}
