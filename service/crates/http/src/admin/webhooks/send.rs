//! `POST /admin/v1/webhooks/{id}/test` and `/resend`.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{needs_read, permitted};
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use app::webhook_delivery::{self, TestError};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::WebhookId;
use storage::{Conflict, Resend, StorageError};

/// The result of a test event.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestResult {
    /// The `webhook-id` of the event.
    event_id: String,
    /// Whether the endpoint accepted the event.
    delivered: bool,
    /// The HTTP status of the answer; null without an answer.
    status: Option<u16>,
    /// The error for people; null if there was none.
    error: Option<String>,
    /// The beginning of the answer's body, at most a kilobyte.
    response: String,
    /// Duration of the request, in milliseconds.
    duration_ms: u64,
}

/// Send a test event
///
/// Sends an event of the type `webhook.test` at once, without repetitions, also to a webhook that
/// is switched off. A failure has no consequences: it switches no webhook off. A token without the
/// scope `read` can only test a webhook for alerts.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = OK, body = TestResult), NotFound, Written, Common)
)]
pub(crate) async fn test(
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<WebhookId>,
) -> Result<Json<TestResult>, ApiError> {
    let (event_id, outcome) = loop {
        let expected = permitted(&service, &requester, id).await?;
        match webhook_delivery::test(&service, id, expected).await {
            Ok(Some(tested)) => break tested,
            Ok(None) => return Err(ApiError::NotFound("webhook")),
            // The webhook was changed meanwhile, perhaps to get tag events, so check it again.
            Err(TestError::Storage(StorageError::Conflict(Conflict::Changed(_)))) => {}
            Err(TestError::Storage(error)) => return Err(error.into()),
            Err(TestError::Client(error)) => {
                tracing::error!("{error}");
                return Err(ApiError::Internal);
            }
        }
    };
    Ok(Json(TestResult {
        event_id,
        delivered: outcome.failure.is_none(),
        status: outcome.status,
        error: outcome.failure.map(|failure| failure.why),
        response: outcome.response,
        duration_ms: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
    }))
}

/// The events to send again: a single event, or all since a time.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendBody {
    /// The `webhook-id` of the event.
    #[serde(default)]
    event_id: Option<String>,
    /// Time of the first event: all events at this time or later are sent.
    #[serde(default)]
    since: Option<Timestamp>,
}

/// Send events again
///
/// The last 1,000 events of a webhook, of any type, are kept: they are sent again with the same
/// `webhook-id` and the same body. An older event is created again. Its `webhook-id` then ends in
/// `_r` and a number, because its tag may have another name now. Send either `event_id` or `since`.
/// If the webhook is switched off, the answer is 409 with `code: "webhook_off"`. Also needs the
/// scope `read`.
#[utoipa::path(
    post, path = "/webhooks/{id}/resend", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = ResendBody,
    responses((status = ACCEPTED, description = "They are on their way"), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn resend(
    Asked(service): Asked,
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
