//! Describes webhook events, as `webhooks` of the OpenAPI document.

use serde_json::{Value, json};
use utoipa::openapi::{OpenApi, PathItem, Paths};

use domain::webhook::EventKind;

/// Adds an operation for each event type.
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
        // The request goes to the owner's server, which does not use tokens of the service.
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
        EventKind::AlertCertificateFailed => "A certificate cannot be obtained or renewed",
        EventKind::AlertDiskLow => "The disk has little room left",
        EventKind::AlertInlayGuessed => "Too many wrong codes came for an inlay",
        EventKind::AlertCopiedUrl => "A one-time URL is opened again and again",
        EventKind::AlertUnlistedLimit => "Taps created as many tags as a day allows",
        EventKind::Test => "A test event",
    }
}

/// The data of an event type. Members that a webhook must ask for are not required.
fn data(kind: EventKind) -> Value {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    match kind {
        EventKind::TapVerified
        | EventKind::TapNotVerified
        | EventKind::TapNotChecked
        | EventKind::TagTampered => json!({
            "description": "The interaction as the admin API shows it. `uid`, `file_data`, `attributes` and `variables` only if the webhook includes them.",
            "allOf": [
                {"$ref": "#/components/schemas/Interaction"},
                {"type": "object", "properties": {"attributes": texts, "variables": texts}},
            ],
        }),
        EventKind::TagUpdated => json!({
            "type": "object",
            "description": "`old` and `new` of changes, and `variables`, only if the webhook includes variables; `attributes` if it includes them. `slug` and `tag_name` are null if the webhook is limited to experiences and the tag now has another experience.",
            "required": ["tag_id", "slug", "tag_name", "interaction_id", "changes", "simulated"],
            "properties": {
                "tag_id": id("The tag"),
                "slug": {"type": ["string", "null"]},
                "tag_name": {"type": ["string", "null"]},
                "interaction_id": {"type": ["integer", "null"], "description": "The tap whose rolling key it was; null for a change by the owner"},
                "changes": {"type": "array", "items": {
                    "type": "object",
                    "required": ["key"],
                    "properties": {"key": {"type": "string"}, "old": {"type": ["string", "null"]}, "new": {"type": "string"}},
                }},
                "attributes": texts,
                "variables": texts,
                "simulated": {"type": "boolean"},
            },
        }),
        EventKind::SubmissionCreated => json!({
            "type": "object",
            "description": "The submission as the admin API shows it. `fields` and `variables` only if the webhook includes variables, `attributes` if it includes them.",
            "required": ["id", "at", "interaction_id", "tag_id", "slug", "tag_name", "experience_id", "experience_version", "tag_verified", "consent", "simulated"],
            "properties": {
                "id": id("The submission, at `/admin/v1/submissions/{id}`"),
                "at": {"type": "string", "format": "date-time"},
                "interaction_id": id("The tap whose page it was sent from"),
                "tag_id": id("The tag"),
                "slug": {"type": ["string", "null"]},
                "tag_name": {"type": ["string", "null"]},
                "experience_id": id("The experience that the form is on"),
                "experience_version": {"type": "integer"},
                "tag_verified": {"type": ["boolean", "null"]},
                "fields": {"type": "array", "items": {"$ref": "#/components/schemas/SubmittedField"}},
                "consent": {"oneOf": [{"$ref": "#/components/schemas/Consent"}, {"type": "null"}]},
                "attributes": texts,
                "variables": texts,
                "simulated": {"type": "boolean"},
            },
        }),
        EventKind::InlayEncoded => json!({
            "type": "object",
            "description": "`uid`, `attributes` and `variables` only if the webhook includes them.",
            "required": ["encoding_id", "run_id", "tag_id", "inlay_id", "counter"],
            "properties": {
                "encoding_id": id("The encoding"),
                "run_id": {"type": ["integer", "null"], "description": "The run that it is of"},
                "tag_id": id("The tag"),
                "inlay_id": id("The inlay"),
                "counter": {"type": "integer", "description": "The counter of the tap that was verified"},
                "uid": {"type": "string"},
                "attributes": texts,
                "variables": texts,
                "simulated": sampled(),
            },
        }),
        kind => alert(of_alert(kind)),
    }
}

/// The members of an alert beside its message.
fn of_alert(kind: EventKind) -> Value {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    match kind {
        EventKind::AlertWebhookDisabled => json!({
            "webhook_id": id("The endpoint"),
            "url": {"type": "string", "description": "Its scheme and host: the rest may hold a secret"},
            "reason": {"$ref": "#/components/schemas/WebhookDisabled"},
            "failing_since": {"type": ["string", "null"], "format": "date-time"},
        }),
        EventKind::AlertRootNotBackedUp => json!({
            "created_at": {"type": "string", "format": "date-time", "description": "When the root was made"},
        }),
        EventKind::AlertBackupFailed => json!({
            "destination": {"type": "string", "description": "The folder or bucket of the backup"},
        }),
        EventKind::AlertCertificateFailed => json!({
            "domain": {"type": "string", "description": "The domain of the certificate"},
            "valid_until": {"type": ["string", "null"], "format": "date-time", "description": "How long the present one is valid; null if there is none"},
        }),
        EventKind::AlertDiskLow => json!({
            "free_mebibytes": {"type": "integer"},
            "limit_mebibytes": {"type": "integer", "description": "The setting `disk_low_mebibytes`"},
        }),
        EventKind::AlertInlayGuessed => json!({
            "inlay_id": {"type": ["integer", "null"], "description": "The inlay; null if it was deleted"},
            "tag_id": {"type": ["integer", "null"], "description": "The tag that it is on"},
            "uid": {"type": "string"},
            "variables": texts,
        }),
        EventKind::AlertCopiedUrl => json!({
            "tag_id": id("The tag"),
            "counter": {"type": "integer", "description": "The counter of the URL"},
            "variables": texts,
        }),
        EventKind::AlertUnlistedLimit => json!({
            "url_template_id": id("The URL template"),
            "create_limit": {"type": "integer", "description": "Its limit of a day"},
        }),
        // A message is enough.
        _ => json!({}),
    }
}

/// The data of an alert for operators, with the members in `about`. A UID is included if the
/// webhook includes it.
fn alert(mut about: Value) -> Value {
    about["message"] = json!({"type": "string", "description": "A sentence for people"});
    about["simulated"] = sampled();
    let always = about.as_object().into_iter().flat_map(|about| about.keys());
    let always: Vec<_> = always
        .filter(|name| !["uid", "variables", "simulated"].contains(&name.as_str()))
        .collect();
    json!({"type": "object", "required": always, "properties": about})
}

/// The mark of a sample, which real events of the type do not have.
fn sampled() -> Value {
    json!({"type": "boolean", "description": "True in a sample, which `tapdesk-service listen` forwards; absent otherwise"})
}

fn id(what: &str) -> Value {
    json!({"type": "integer", "description": what})
}
