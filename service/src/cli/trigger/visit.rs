//! Visits of a tag that cause events: taps, updates and forms.

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tapdesk_service::client::Client;
use tapdesk_service::webhook::EventKind;
use ureq::Agent;
use url::Url;

use crate::cli::client::plain_agent;
use crate::cli::tap::{self, one_time_url, plain_url};

/// Taps a tag, so that the tap becomes this event.
pub(super) fn tap(service: &Client, event: EventKind, slug: &str) -> Result<String> {
    let url = match event {
        EventKind::TapNotChecked => plain_url(service, slug)?,
        EventKind::TapNotVerified => forged(&one_time_url(service, &inlay_of(service, slug)?)?),
        _ => one_time_url(service, &inlay_of(service, slug)?)?,
    };
    Visit::open(&url)?;
    let newest = newest(service, slug)?;
    let reason = newest["reason"].as_str().unwrap_or_default();
    let expected: Value = match event {
        EventKind::TapVerified => true.into(),
        EventKind::TapNotVerified => false.into(),
        _ => Value::Null,
    };
    if newest["tag_verified"] != expected {
        bail!(
            "The tap became another event, by its reason {reason}. A tap is not checked at a tag without an inlay \
             that makes codes, such as demo-poster, and is checked at one with such an inlay."
        );
    }
    Ok(in_words(&newest))
}

/// Taps a chip while its tamper loop is closed, and again while it is open.
pub(super) fn open_seal(service: &Client, slug: &str) -> Result<String> {
    let path = format!("/simulator/inlays/{}/tap", inlay_of(service, slug)?);
    for seal in ["sealed", "open"] {
        service.post(&path, &json!({"follow": true, "seal": seal}))?;
    }
    let newest = newest(service, slug)?;
    if newest["tamper"] != "open" {
        bail!(
            "The chip of {slug} reports no tamper loop. Create a virtual inlay with a URL template that has {{tamper}}."
        );
    }
    Ok(in_words(&newest))
}

/// Taps a tag and updates its first variable.
pub(super) fn update(service: &Client, slug: &str) -> Result<String> {
    let tag = tag_of(service, slug)?;
    let first = tag["variables"]
        .as_object()
        .and_then(|variables| variables.iter().next());
    let Some((name, value)) = first else {
        bail!("The tag {slug} has no variable that an update can change. Add one to the tag.");
    };
    // An update to the present value changes nothing.
    let value = if value == "true" { "false" } else { "true" };
    let data = [(name.clone(), value.to_owned())];
    update_with(service, slug, &data)
}

/// Taps a tag and sends the first form of its page.
pub(super) fn send_form(service: &Client, slug: &str) -> Result<String> {
    let Some(fields) = form_of(service, &tag_of(service, slug)?["id"])? else {
        bail!("The page of {slug} has no form. Assign the tag to a studio experience with a form.");
    };
    let fields = fields.iter().map(|field| {
        let name = field["variable"].as_str().unwrap_or_default();
        (name.to_owned(), entry(field))
    });
    update_with(service, slug, &fields.collect::<Vec<_>>())
}

/// The fields of the first form that visitors of a tag get.
fn form_of(service: &Client, tag: &Value) -> Result<Option<Vec<Value>>> {
    let effective = service.get(&format!("/tags/{tag}/effective"))?;
    let Some(id) = effective["experience_id"]["value"].as_i64() else {
        return Ok(None);
    };
    let experience = service.get(&format!("/experiences/{id}"))?;
    Ok(form_in(&experience["blocks"]))
}

/// The fields of the first form in blocks, or in the blocks of a condition.
fn form_in(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => items.iter().find_map(form_in),
        Value::Object(members) if value["type"] == "form" => {
            members.get("fields").and_then(Value::as_array).cloned()
        }
        Value::Object(members) => members.values().find_map(form_in),
        _ => None,
    }
}

/// An entry for a field of a form.
fn entry(field: &Value) -> String {
    let choice = field["choices"][0].as_str();
    let entry = match field["kind"].as_str() {
        Some("email") => "ada@example.com",
        Some("number") => "1",
        Some("choice") => choice.unwrap_or_default(),
        Some("checkbox" | "consent") => "true",
        _ => "Sample",
    };
    entry.to_owned()
}

/// Taps a tag, and updates variables with the key of the tap.
fn update_with(service: &Client, slug: &str, data: &[(String, String)]) -> Result<String> {
    let url = match service.virtual_inlay(slug)? {
        Some(inlay) => one_time_url(service, &inlay["id"])?,
        None => plain_url(service, slug)?,
    };
    let visit = Visit::open(&url)?;
    let key = visit
        .key
        .with_context(|| format!("The tap of {slug} got no rolling key."))?;
    tap::update(&visit.agent, service, &key, data)?;
    Ok(in_words(&newest(service, slug)?))
}

/// A tap whose URL was opened.
struct Visit {
    agent: Agent,
    /// The rolling key of the tap in Base64. Redirects and pages have it in their cookie.
    key: Option<String>,
}

impl Visit {
    fn open(url: &str) -> Result<Self> {
        let agent = plain_agent(&Url::parse(url)?);
        let answer = agent
            .get(url)
            .call()
            .with_context(|| format!("{url} cannot be reached."))?;
        let cookie = answer.headers().get("set-cookie");
        let cookie = cookie.and_then(|value| value.to_str().ok());
        let key = cookie.and_then(|cookie| {
            let (_, value) = cookie.split(';').next()?.split_once('=')?;
            Some(STANDARD.encode(value))
        });
        Ok(Self { agent, key })
    }
}

/// The id of the virtual inlay on a tag.
fn inlay_of(service: &Client, slug: &str) -> Result<Value> {
    let Some(inlay) = service.virtual_inlay(slug)? else {
        bail!("The tag {slug} has no virtual inlay. `tapdesk-service demo` loads some to try.");
    };
    Ok(inlay["id"].clone())
}

/// A one-time URL with an invalid MAC: its last digit is another one.
fn forged(url: &str) -> String {
    let last = if url.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &url[..url.len() - 1])
}

fn tag_of(service: &Client, slug: &str) -> Result<Value> {
    let tag = service.tag(slug)?;
    tag.with_context(|| format!("There is no tag with the slug {slug}."))
}

/// The newest tap of a tag. Other clients may tap other tags meanwhile.
fn newest(service: &Client, slug: &str) -> Result<Value> {
    let tag = tag_of(service, slug)?;
    let path = format!("/interactions?tag_id={}&simulated=all&limit=1", tag["id"]);
    let mut newest = service.get(&path)?;
    Ok(newest["items"][0].take())
}

fn in_words(interaction: &Value) -> String {
    let reason = interaction["reason"].as_str().unwrap_or_default();
    format!("interaction {}: {reason}", interaction["id"])
}
