//! `listen`: forwards events to a server on this machine, as a webhook would send them. No public
//! address is needed, and nothing is stored: what happens while it does not run is not sent.

use std::io::{self, BufRead as _, BufReader, Write as _};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value, json};
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::webhook::Secret;
use ureq::http::Method;
use url::Url;

use super::client::{Client, Connection, plain_agent};

#[derive(Args)]
pub(super) struct Options {
    /// Where events are sent.
    #[arg(long, value_name = "URL")]
    forward_to: Url,

    /// Forward events of simulated tags only, or of real ones only. Default: both.
    #[arg(long)]
    simulated: Option<bool>,

    #[command(flatten)]
    connection: Connection,
}

/// Members that a webhook does not tell unless it is asked to, and those of the trace.
const LEFT_OUT: [&str; 7] = [
    "uid",
    "file_data",
    "steps",
    "key",
    "update",
    "refused_update",
    "payload_reads",
];

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    // It signs until this command ends.
    let secret = Secret::generate(&OsEntropy);
    let world = options
        .simulated
        .map_or_else(|| "all".to_owned(), |simulated| simulated.to_string());
    let events = service.send(Method::GET, &format!("/events?simulated={world}"), None, ())?;
    // From here on nothing is missed.
    writeln!(
        io::stdout(),
        "forwarding to {}, signed with {}",
        options.forward_to,
        secret.expose()
    )?;
    for line in BufReader::new(events.into_body().into_reader()).lines() {
        let line =
            line.map_err(|error| anyhow!("The connection to the service broke: {error}."))?;
        let Some(data) = line.strip_prefix("data:") else {
            continue;
        };
        let event: Value = serde_json::from_str(data.trim_start())?;
        if let Some((id, body)) = told(&service, &event)? {
            forward(options, &secret, &id, &body)?;
        }
    }
    bail!("The service has ended.")
}

/// The event as a webhook tells it: its `webhook-id`, and its body.
fn told(service: &Client, event: &Value) -> Result<Option<(String, Value)>> {
    let id = &event["interaction_id"];
    let mut data: Map<String, Value> = match event["event"].as_str() {
        Some("interaction" | "update") => {
            let interaction = service.get(&format!("/interactions/{id}"))?;
            interaction.as_object().cloned().unwrap_or_default()
        }
        _ => return Ok(None),
    };
    let seconds = |at: &Value| {
        let at = serde_json::from_value::<tapdesk_service::clock::Timestamp>(at.clone());
        at.map(tapdesk_service::clock::Timestamp::millis)
    };
    let at = seconds(&event["at"])?;
    if event["event"] == "update" {
        let changes = event["changes"].as_array().into_iter().flatten();
        let changes: Vec<Value> = changes.map(|one| json!({"key": one["key"]})).collect();
        let body = json!({"type": "tag.updated", "timestamp": event["at"], "data": {
            "tag_id": data["tag_id"], "slug": data["slug"], "tag_name": data["tag_name"],
            "interaction_id": id, "changes": changes, "simulated": event["simulated"],
        }});
        return Ok(Some((format!("evt_{id}_{at}"), body)));
    }
    let kind = match event["tag_verified"].as_bool() {
        Some(true) => "tap.verified",
        Some(false) => "tap.not_verified",
        None => "tap.not_checked",
    };
    for member in LEFT_OUT {
        data.shift_remove(member);
    }
    let body = json!({"type": kind, "timestamp": event["at"], "data": data});
    Ok(Some((format!("tap_{id}_{at}"), body)))
}

fn forward(options: &Options, secret: &Secret, id: &str, body: &Value) -> Result<()> {
    let text = body.to_string();
    let now = SystemClock::start().now();
    let mut request = plain_agent(&options.forward_to)
        .post(options.forward_to.as_str())
        .header("content-type", "application/json");
    for (name, value) in secret.headers(id, now, text.as_bytes()) {
        request = request.header(name, value);
    }
    let outcome = match request.send(&text) {
        Ok(answer) => answer.status().as_u16().to_string(),
        Err(error) => error.to_string(),
    };
    let kind = body["type"].as_str().context("an event has a type")?;
    let mut out = io::stdout().lock();
    writeln!(out, "{kind} {id} → {outcome}")?;
    out.flush()?;
    Ok(())
}
