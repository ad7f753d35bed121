//! `tap`: taps of a virtual inlay. With `--follow` it also makes the requests of an owner's domain
//! over real HTTP: the redirect, the payload and an update.

use std::io::{self, Write};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::{Map, Value, json};
use tapdesk_service::client::Client;
use ureq::Agent;
use url::Url;

use super::client::{Connection, plain_agent};

#[derive(Args)]
pub(super) struct Options {
    /// The tag's slug: the last part of its URL.
    slug: String,

    /// Number of taps.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    count: u32,

    /// Open the URL, read the payload, update variables, and show each step.
    #[arg(long)]
    follow: bool,

    /// A variable to update with the rolling key.
    #[arg(long, requires = "follow", value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,

    #[command(flatten)]
    connection: Connection,
}

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text
        .split_once('=')
        .ok_or("a variable is set as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let inlay = service.virtual_inlay(&options.slug)?;
    let mut out = io::stdout().lock();
    for _ in 0..options.count {
        let url = match &inlay {
            Some(inlay) => one_time_url(&service, &inlay["id"])?,
            None => plain_url(&service, &options.slug)?,
        };
        writeln!(out, "{url}")?;
        if options.follow {
            follow(&service, &url, &options.set, &mut out)?;
        }
    }
    Ok(())
}

/// The URL that the virtual inlay makes on its next read.
pub(super) fn one_time_url(service: &Client, id: &Value) -> Result<String> {
    let tapped = service.post(&format!("/simulator/inlays/{id}/tap"), &json!({}))?;
    let url = tapped["url"].as_str();
    url.map(str::to_owned)
        .context("The service's answer names no URL.")
}

/// The URL of a tag without a virtual inlay, as in its printed QR code.
pub(super) fn plain_url(service: &Client, slug: &str) -> Result<String> {
    if service.tag(slug)?.is_none() {
        bail!("There is no tag with the slug {slug}. `tapdesk-service demo` loads some to try.");
    }
    let settings = service.get("/settings")?;
    let tag_url = settings["tag_url"]["value"].as_str().unwrap_or_default();
    Ok(format!("{tag_url}/{slug}"))
}

/// Opens `url` like a visitor's browser, then continues like an owner's domain.
fn follow(
    service: &Client,
    url: &str,
    set: &[(String, String)],
    out: &mut impl Write,
) -> Result<()> {
    let agent = plain_agent(&Url::parse(url)?);
    let answer = agent
        .get(url)
        .call()
        .with_context(|| format!("{url} cannot be reached."))?;
    let location = answer
        .headers()
        .get("location")
        .and_then(|value| value.to_str().ok());
    let key = location.and_then(rolling_key);
    let Some(key) = key else {
        writeln!(
            out,
            "  The answer has the status {} and no rolling key.",
            answer.status().as_u16()
        )?;
        return Ok(());
    };
    let encoded = STANDARD.encode(&key);
    let payload = payload(&agent, service, &encoded)?;
    let updated = if set.is_empty() {
        Ok(())
    } else {
        update(&agent, service, &encoded, set)
    };
    let interaction = &payload["interaction_ids"][0];
    let interaction = service.get(&format!("/interactions/{interaction}"))?;
    for step in interaction["steps"].as_array().into_iter().flatten() {
        show(step, out)?;
    }
    if set.is_empty() {
        // The caller made this tap, so it may use the key.
        writeln!(
            out,
            "  The key for payload and update, for five minutes: {encoded}"
        )?;
    }
    updated
}

/// The rolling key in the query of a redirect.
fn rolling_key(location: &str) -> Option<String> {
    let target = Url::parse(location).ok()?;
    let mut query = target.query_pairs();
    query
        .find(|(name, _)| name == "rk")
        .map(|(_, value)| value.into_owned())
}

fn payload(agent: &Agent, service: &Client, key: &str) -> Result<Value> {
    let url = format!("{}/v2/interactions/rk_payload", service.base());
    let mut answer = agent.get(url).query("rk", key).call()?;
    let payload: Value = answer.body_mut().read_json()?;
    if payload.is_object() {
        Ok(payload)
    } else {
        bail!("The service knows no payload for this key.")
    }
}

/// Updates variables with a rolling key in Base64.
pub(super) fn update(
    agent: &Agent,
    service: &Client,
    key: &str,
    set: &[(String, String)],
) -> Result<()> {
    let data: Map<String, Value> = set
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let url = format!("{}/v2/interactions/data", service.base());
    let mut answer = agent
        .post(url)
        .send_json(json!({"rolling_key": key, "data": data}))?;
    if answer.status().is_success() {
        return Ok(());
    }
    let body: Value = answer.body_mut().read_json()?;
    bail!(
        "The update was refused: {}.",
        body["message"].as_str().unwrap_or_default()
    )
}

/// Prints a step of the tap. Verdicts differ in symbol and word, so color is not needed.
fn show(step: &Value, out: &mut impl Write) -> Result<()> {
    let text = |name: &str| step[name].as_str().unwrap_or_default();
    let mark = match text("verdict") {
        "ok" | "gap" => '●',
        "failed" => '✕',
        _ => '○',
    };
    let name = match text("name") {
        "url" => "URL",
        "mac" => "MAC",
        "counter" => "Counter",
        "record" => "Record",
        "key" => "Key",
        "redirect" => "Redirect",
        "payload" => "Payload",
        "update" => "Update",
        other => other,
    };
    // Visitors write variables, so remove characters that move the cursor of a terminal.
    let detail = text("detail").replace(char::is_control, "\u{fffd}");
    writeln!(out, "  {mark} {name:<9} {detail}")?;
    Ok(())
}
