//! `POST /admin/v1/simulator/events`: samples of webhook events.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common};
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::webhook::{self, EventKind};
use storage::Event;

/// The sample that is wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleRequest {
    /// The type of the event: `inlay.encoded`, `webhook.test`, or an alert. A tap of a virtual inlay
    /// causes the others.
    #[serde(rename = "type")]
    kind: EventKind,
}

/// A sample as a webhook would get it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SentSample {
    /// The type of the event.
    #[serde(rename = "type")]
    kind: EventKind,
    /// When the sample was requested.
    timestamp: Timestamp,
    /// The event's data. Ids and names are invented, and `simulated` is `true`.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
    data: Map<String, Value>,
}

/// Send a sample of an event
///
/// Sends a sample to the listeners of the event stream on this node, such as `tapdesk-service listen`.
/// Its data are invented and marked as simulated. No webhook and no notification gets it, so nobody
/// takes it for a real alert.
#[utoipa::path(
    post, path = "/simulator/events", tag = "simulator", request_body = SampleRequest,
    responses((status = OK, body = SentSample), BadBody, Common)
)]
pub(crate) async fn sample(
    Asked(service): Asked,
    Body(SampleRequest { kind }): Body<SampleRequest>,
) -> Result<Json<SentSample>, ApiError> {
    let Some(data) = webhook::sample(kind) else {
        let why = format!(
            "{kind} has no sample: a tap of a virtual inlay causes it, as `tapdesk-service trigger` does."
        );
        return Err(ApiError::Invalid(FieldError::of("type", why)));
    };
    let note = Note::done(&json!({"type": kind}));
    service.storage.record(note).await?;
    let at = service.storage.now().await?;
    service.storage.tell(Event::Sample {
        kind,
        data: data.clone(),
        at,
    });
    Ok(Json(SentSample {
        kind,
        timestamp: at,
        data,
    }))
}
