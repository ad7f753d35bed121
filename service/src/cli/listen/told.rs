//! Events of the stream as a webhook tells them that includes nothing.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use tapdesk_service::clock::Timestamp;

use crate::cli::client::Client;

/// Members of an interaction that a webhook does not tell unless it is asked to, and those of the
/// trace.
const LEFT_OUT: [&str; 7] = [
    "uid",
    "file_data",
    "steps",
    "key",
    "update",
    "refused_update",
    "payload_reads",
];

/// The `webhook-id` and the body of an event; `None` for one that no webhook tells. The ids of taps
/// are those of webhooks; other events have one of their own.
pub(super) fn body(service: &Client, event: &Value) -> Result<Option<(String, Value)>> {
    let at: Timestamp = serde_json::from_value(event["at"].clone())?;
    let at = at.millis();
    let id = &event["interaction_id"];
    let (kind, id, data) = match event["event"].as_str() {
        Some("interaction") => (kind_of(event), format!("tap_{id}_{at}"), tap(service, id)?),
        Some("update") => (
            "tag.updated",
            format!("evt_{id}_{at}"),
            update(service, event)?,
        ),
        Some("submission") => (
            "submission.created",
            format!("evt_{id}_{at}_submission"),
            submission(service, event)?,
        ),
        Some("inlay.encoded") => (
            "inlay.encoded",
            format!("evt_{}_{at}_encoding", event["encoding_id"]),
            members(
                event,
                &["encoding_id", "run_id", "tag_id", "inlay_id", "counter"],
            ),
        ),
        // The stream has its sentence alone.
        Some("alert") => {
            let kind = event["alert"].as_str().context("an alert has a type")?;
            (
                kind,
                format!("evt_{at}_{kind}"),
                members(event, &["message"]),
            )
        }
        _ => return Ok(None),
    };
    let body = json!({"type": kind, "timestamp": event["at"], "data": data});
    Ok(Some((id, body)))
}

fn kind_of(event: &Value) -> &'static str {
    match event["tag_verified"].as_bool() {
        Some(true) => "tap.verified",
        Some(false) => "tap.not_verified",
        None => "tap.not_checked",
    }
}

fn tap(service: &Client, id: &Value) -> Result<Map<String, Value>> {
    let interaction = service.get(&format!("/interactions/{id}"))?;
    let mut data = object(interaction)?;
    for member in LEFT_OUT {
        data.shift_remove(member);
    }
    Ok(data)
}

fn update(service: &Client, event: &Value) -> Result<Map<String, Value>> {
    let id = &event["interaction_id"];
    let interaction = service.get(&format!("/interactions/{id}"))?;
    let changes = event["changes"].as_array().into_iter().flatten();
    let changes: Vec<Value> = changes.map(|one| json!({"key": one["key"]})).collect();
    object(json!({
        "tag_id": interaction["tag_id"], "slug": interaction["slug"],
        "tag_name": interaction["tag_name"], "interaction_id": id, "changes": changes,
        "simulated": event["simulated"],
    }))
}

/// Events name the tap of a submission, and the list has the submission.
fn submission(service: &Client, event: &Value) -> Result<Map<String, Value>> {
    let since = event["at"].as_str().unwrap_or_default();
    let since: String = form_urlencoded::byte_serialize(since.as_bytes()).collect();
    let path = format!(
        "/submissions?simulated=all&tag_id={}&since={since}",
        event["tag_id"]
    );
    let mut sent = service.list(&path)?.into_iter();
    let of_tap = |one: &Value| one["interaction_id"] == event["interaction_id"];
    let mut data = object(sent.find(of_tap).context("It is erased.")?)?;
    data.shift_remove("fields");
    Ok(data)
}

fn members(event: &Value, names: &[&str]) -> Map<String, Value> {
    let members = names.iter();
    members
        .map(|name| ((*name).to_owned(), event[*name].clone()))
        .collect()
}

fn object(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        _ => anyhow::bail!("The service's answer is not what it should be."),
    }
}
