//! Converts events of the stream to webhook events without any `include`.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use tapdesk_service::client::Client;
use tapdesk_service::clock::Timestamp;

/// Members of an interaction that webhooks contain only on request, and members of its trace.
const LEFT_OUT: [&str; 8] = [
    "uid",
    "file_data",
    "steps",
    "key",
    "update",
    "refused_update",
    "payload_reads",
    "staff_note",
];

/// A webhook event: its type, its `webhook-id`, and its data.
type WebhookEvent<'a> = (&'a str, String, Map<String, Value>);

/// The webhook events for an event of the stream: each with its `webhook-id` and body. Empty if
/// webhooks have no such event. Taps have the same id as in webhooks; other events have ids of
/// their own.
pub(super) fn of(service: &Client, event: &Value) -> Result<Vec<(String, Value)>> {
    // Changes of resources have no time, and webhooks do not send them.
    if event["event"] == "changed" {
        return Ok(Vec::new());
    }
    let at: Timestamp = serde_json::from_value(event["at"].clone())?;
    let at = at.millis();
    let id = &event["interaction_id"];
    let events: Vec<WebhookEvent<'_>> = match event["event"].as_str() {
        Some("interaction") => taps(service, event, at)?,
        Some("update") => vec![(
            "tag.updated",
            format!("evt_{id}_{at}"),
            update(service, event)?,
        )],
        Some("submission") => vec![(
            "submission.created",
            format!("evt_{id}_{at}_submission"),
            submission(service, event)?,
        )],
        Some("inlay.encoded") => vec![(
            "inlay.encoded",
            format!("evt_{}_{at}_encoding", event["encoding_id"]),
            members(
                event,
                &["encoding_id", "run_id", "tag_id", "inlay_id", "counter"],
            ),
        )],
        // The stream contains only the sentence of an alert.
        Some("alert") => {
            let kind = event["alert"].as_str().context("an alert has a type")?;
            let data = members(event, &["message"]);
            vec![(kind, format!("evt_{at}_{kind}"), data)]
        }
        Some("sample") => {
            let kind = event["type"].as_str().context("a sample has a type")?;
            let data = object(event["data"].clone())?;
            vec![(kind, format!("evt_{at}_{kind}_sample"), data)]
        }
        _ => Vec::new(),
    };
    let events = events.into_iter().map(|(kind, id, data)| {
        let body = json!({"type": kind, "timestamp": event["at"], "data": data});
        (id, body)
    });
    Ok(events.collect())
}

/// A tap, and a tampered event if the previous tap did not report it.
fn taps(service: &Client, event: &Value, at: i64) -> Result<Vec<WebhookEvent<'static>>> {
    let id = &event["interaction_id"];
    let data = tap(service, id)?;
    let tampered = is_open(data.get("tamper"))
        && !is_open(tamper_before(service, &event["tag_id"], id)?.as_ref());
    let mut taps = vec![(kind_of(event), format!("tap_{id}_{at}"), data)];
    if tampered {
        let data = taps[0].2.clone();
        taps.push(("tag.tampered", format!("tampered_{id}_{at}"), data));
    }
    Ok(taps)
}

fn is_open(tamper: Option<&Value>) -> bool {
    tamper.is_some_and(|tamper| tamper == "open" || tamper == "reclosed")
}

/// The tamper loop state in the tag's tap before this one; `None` if there was none. Newer taps may
/// exist.
fn tamper_before(service: &Client, tag: &Value, id: &Value) -> Result<Option<Value>> {
    let history = match tag {
        Value::Null => "no_tag=true".to_owned(),
        tag => format!("tag_id={tag}"),
    };
    let mut found = false;
    for page in service.pages(&format!("/interactions?simulated=all&{history}"), 50) {
        for mut one in page? {
            if found {
                return Ok(Some(one["tamper"].take()));
            }
            found = one["id"] == *id;
        }
    }
    Ok(None)
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

/// The submission of an event. The event contains only its tap, so find it in the list.
fn submission(service: &Client, event: &Value) -> Result<Map<String, Value>> {
    let since = event["at"].as_str().unwrap_or_default();
    let since: String = form_urlencoded::byte_serialize(since.as_bytes()).collect();
    let path = format!(
        "/submissions?simulated=all&state=saved&tag_id={}&since={since}",
        event["tag_id"]
    );
    let mut sent = service.list(&path)?.into_iter();
    let of_tap = |one: &Value| one["interaction_id"] == event["interaction_id"];
    let mut data = object(sent.find(of_tap).context("It is erased.")?)?;
    data.shift_remove("fields");
    // Webhook events are only about saved submissions.
    data.shift_remove("not_saved");
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
