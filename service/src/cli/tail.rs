//! `tail`: prints interactions and updates as they happen.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::Value;
use tapdesk_service::client::Client;
use tapdesk_service::id::TagId;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// Print each event as a line of JSON, as in the API.
    #[arg(long)]
    json: bool,

    /// Show only real taps.
    #[arg(long, conflicts_with = "simulated")]
    live: bool,

    /// Show only simulated taps.
    #[arg(long)]
    simulated: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let world = match (options.live, options.simulated) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    };
    let events = service.events(world, None, None)?;
    let mut slugs = Slugs {
        service: &service,
        known: HashMap::new(),
    };
    // The data of an event is one line. Comments only keep the connection open.
    for line in events.lines() {
        let line =
            line.map_err(|error| anyhow!("The connection to the service broke: {error}."))?;
        let Some(data) = line.strip_prefix("data:") else {
            continue;
        };
        let data = data.trim_start();
        let event: Value = serde_json::from_str(data)?;
        // Taps, and not the work of people on resources.
        if event["event"] == "changed" {
            continue;
        }
        let shown = if options.json {
            data.to_owned()
        } else {
            in_words(&event, &mut slugs)
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{shown}")?;
        out.flush()?;
    }
    bail!("The service has ended.")
}

/// Slugs of tags. Each is requested only once.
struct Slugs<'a> {
    service: &'a Client,
    known: HashMap<TagId, String>,
}

impl Slugs<'_> {
    fn of(&mut self, tag: &Value) -> String {
        let id = tag.as_i64().and_then(|id| TagId::try_from(id).ok());
        let Some(id) = id else {
            return String::new();
        };
        let ask = || {
            let tag = self.service.get(&format!("/tags/{id}")).ok();
            let slug = tag.as_ref().and_then(|tag| tag["slug"].as_str());
            slug.map_or_else(|| format!("tag {id}"), str::to_owned)
        };
        self.known.entry(id).or_insert_with(ask).clone()
    }
}

fn in_words(event: &Value, slugs: &mut Slugs<'_>) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let what = match text("event") {
        "interaction" => match event["tag_verified"].as_bool() {
            Some(true) => "● verified".to_owned(),
            Some(false) => format!("✕ not verified ({})", text("reason").replace('_', " ")),
            None => "○ not checked".to_owned(),
        },
        "update" => format!("  {}", changes(&event["changes"])),
        "submission" => "  sent a form".to_owned(),
        "alert" => return text("message").to_owned(),
        "sample" => return format!("{}  sample of {}", text("at"), text("type")),
        "inlay.encoded" => {
            return format!(
                "{}  {:<16} encoded on {}",
                text("at"),
                slugs.of(&event["tag_id"]),
                text("uid")
            );
        }
        _ => return missed(event),
    };
    let mark = if event["simulated"] == true {
        "  simulated"
    } else {
        ""
    };
    format!(
        "{}  {:<16} #{:<6} {what}{mark}",
        text("at"),
        slugs.of(&event["tag_id"]),
        event["interaction_id"].to_string(),
    )
}

/// A message about missed events, with their number if the service knows it.
pub(super) fn missed(event: &Value) -> String {
    match event["missed"].as_u64() {
        Some(missed) => format!("{missed} events were missed."),
        None => "Events were missed.".to_owned(),
    }
}

/// The changes of an update. Visitors wrote them, so characters that move the cursor are removed.
fn changes(changes: &Value) -> String {
    let changes = changes.as_array().into_iter().flatten();
    let changes = changes.map(|change| {
        let text = |name: &str| change[name].as_str().unwrap_or_default();
        let old = change["old"].as_str();
        let old = old.map_or_else(|| "(erased)".to_owned(), |old| format!("{old:?}"));
        format!("{}: {old} → {:?}", text("key"), text("new"))
    });
    changes.collect::<Vec<_>>().join(", ")
}
