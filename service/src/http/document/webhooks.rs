//! What webhooks send, as the `webhooks` of the OpenAPI document.

use serde_json::{Value, json};
use utoipa::openapi::{OpenApi, PathItem, Paths};

use crate::webhook::EventKind;

/// Adds an operation for each type of event.
pub(super) fn describe(document: &mut OpenApi) {
    let mut webhooks = Paths::new();
    for (kind, name) in EventKind::ALL {
        webhooks.paths.insert(name.to_owned(), item(kind, name));
    }
    document.webhooks = Some(webhooks);
}

fn item(kind: EventKind, name: &str) -> PathItem {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "required": true, "description": description, "schema": {"type": "string"}});
    let answer = |description: &str| json!({"description": description});
    let item = json!({"post": {
        "operationId": format!("webhook_{}", name.replace('.', "_")),
        "tags": ["webhooks"],
        "summary": summary(kind),
        // It goes to the owner's server, which has no use for a token of ours.
        "security": [],
        "description": "Signed as Standard Webhooks 1.0 has it. Any status of 200 to 299 is success; 410 switches the webhook off; everything else is tried again.",
        "parameters": [
            header("webhook-id", "The event: the same in each attempt"),
            header("webhook-timestamp", "When this attempt was made, in seconds since the Unix epoch"),
            header("webhook-signature", "`v1,` and the Base64 of the HMAC-SHA256 of identifier, timestamp and body; several while a secret is rotated"),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["type", "timestamp", "data"],
            "properties": {
                "type": {"type": "string", "enum": [name]},
                "timestamp": {"type": "string", "format": "date-time", "description": "When it happened"},
                "data": data(kind),
            },
        }}}},
        "responses": {
            "2XX": answer("The event was taken"),
            "410": answer("The endpoint is gone for good"),
        },
    }});
    serde_json::from_value(item).expect("it is an item of a document")
}

fn summary(kind: EventKind) -> &'static str {
    match kind {
        EventKind::TapVerified => "A tap that the code proved",
        EventKind::TapNotVerified => "A tap with a code that proved nothing",
        EventKind::TapNotChecked => "A tap that was not checked",
        EventKind::TagUpdated => "A tag was changed",
        EventKind::TagTampered => "A tag was tampered with",
        EventKind::InlayEncoded => "An inlay was encoded",
        EventKind::SubmissionCreated => "A visitor sent a form",
        EventKind::AlertWebhookDisabled => "A webhook was switched off",
        EventKind::AlertRootNotBackedUp => "The encoding root is in no backup",
        EventKind::AlertBackupFailed => "A scheduled backup is not good",
        EventKind::AlertWriterFailed => "The database did not take writes",
        EventKind::AlertDiskLow => "The disk has little room left",
        EventKind::AlertInlayGuessed => "Too many wrong codes came for an inlay",
        EventKind::AlertCopiedUrl => "A one-time URL is opened again and again",
        EventKind::Test => "A test event",
    }
}

/// Members that are sent only if they are asked for are not required.
fn data(kind: EventKind) -> Value {
    let about = "As the admin API shows it. `uid`, `file_data` and `variables` only if the webhook includes them.";
    match kind {
        EventKind::TapVerified
        | EventKind::TapNotVerified
        | EventKind::TapNotChecked
        | EventKind::TagTampered => json!({
            "type": "object",
            "description": about,
            "required": ["id", "at", "tag_id", "slug", "tag_name", "tag_verified", "reason"],
            "properties": {
                "id": {"type": "integer", "description": "The interaction, at `/admin/v1/interactions/{id}`"},
                "at": {"type": "string", "format": "date-time"},
                "tag_id": {"type": ["integer", "null"]},
                "slug": {"type": ["string", "null"]},
                "tag_name": {"type": ["string", "null"]},
                "tag_verified": {"type": ["boolean", "null"]},
                "reason": {"$ref": "#/components/schemas/Reason"},
                "uid": {"type": ["string", "null"]},
                "variables": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "additionalProperties": true,
        }),
        EventKind::TagUpdated => json!({
            "type": "object",
            "description": "`old` and `new` of changes only if the webhook includes variables.",
            "required": ["tag_id", "slug", "tag_name", "interaction_id", "changes", "simulated"],
            "properties": {
                "tag_id": {"type": "integer"},
                "slug": {"type": "string"},
                "tag_name": {"type": "string"},
                "interaction_id": {"type": ["integer", "null"], "description": "The tap whose rolling key it was; null for a change by the owner"},
                "changes": {"type": "array", "items": {
                    "type": "object",
                    "required": ["key"],
                    "properties": {"key": {"type": "string"}, "old": {"type": "string"}, "new": {"type": "string"}},
                }},
                "variables": {"type": "object", "additionalProperties": {"type": "string"}},
                "simulated": {"type": "boolean"},
            },
        }),
        _ => json!({"type": "object", "additionalProperties": true}),
    }
}
