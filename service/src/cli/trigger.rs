//! `trigger`: makes an event happen, with a tap of a virtual inlay.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;
use url::Url;

use super::client::{Connection, plain_agent};

#[derive(Args)]
pub(super) struct Options {
    /// The event.
    #[arg(value_enum)]
    event: Event,

    /// The slug of a tag with a virtual inlay; `tapdesk-service demo` loads some.
    #[arg(long, value_name = "SLUG")]
    tag: String,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, ValueEnum)]
enum Event {
    #[value(name = "tap.verified")]
    Verified,
    #[value(name = "tap.not_verified")]
    NotVerified,
    #[value(name = "tap.not_checked")]
    NotChecked,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let Some(inlay) = service.virtual_inlay(&options.tag)? else {
        bail!(
            "The tag {} has no virtual inlay. `tapdesk-service demo` loads some to try.",
            options.tag
        );
    };
    let tapped = service.post(
        &format!("/simulator/inlays/{}/tap", inlay["id"]),
        &json!({}),
    )?;
    let url = tapped["url"]
        .as_str()
        .context("The service's answer names no URL.")?;
    let mut url = Url::parse(url)?;
    match options.event {
        Event::Verified => {}
        // Another last digit is another MAC.
        Event::NotVerified => {
            let text = url.to_string();
            let last = if text.ends_with('0') { '1' } else { '0' };
            url = Url::parse(&format!("{}{last}", &text[..text.len() - 1]))?;
        }
        Event::NotChecked => url.set_query(None),
    }
    let agent = plain_agent(&url);
    agent
        .get(url.as_str())
        .call()
        .with_context(|| format!("{url} cannot be reached."))?;
    // Others may tap other tags meanwhile.
    let of_tag = inlay["tag_id"].as_i64().unwrap_or_default();
    let newest = service.get(&format!(
        "/interactions?tag_id={of_tag}&simulated=all&limit=1"
    ))?;
    let newest = &newest["items"][0];
    writeln!(
        io::stdout(),
        "interaction {}: {}",
        newest["id"],
        newest["reason"].as_str().unwrap_or_default()
    )?;
    Ok(())
}
