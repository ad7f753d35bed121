//! `trigger`: triggers an event, with a tap of a virtual inlay.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;
use tapdesk_service::client::Client;
use url::Url;

use super::client::{Connection, plain_agent};
use super::tap::{one_time_url, plain_url};

#[derive(Args)]
pub(super) struct Options {
    /// The event to trigger.
    #[arg(value_enum)]
    event: Event,

    /// The slug of a tag with a virtual inlay; `tapdesk-service demo` creates some. For a tap that
    /// is not checked, the slug of a tag without one.
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
    let url = options.event.url(&service, &options.tag)?;
    let agent = plain_agent(&url);
    agent
        .get(url.as_str())
        .call()
        .with_context(|| format!("{url} cannot be reached."))?;
    // Other clients may tap other tags meanwhile.
    let tag = service.tag(&options.tag)?.unwrap_or_default();
    let newest = service.get(&format!(
        "/interactions?tag_id={}&simulated=all&limit=1",
        tag["id"]
    ))?;
    let newest = &newest["items"][0];
    let reason = newest["reason"].as_str().unwrap_or_default();
    if newest["tag_verified"] != options.event.verdict() {
        bail!(
            "The tap became another event, by its reason {reason}. A tap is not checked at a tag without an inlay \
             that makes codes, such as demo-poster, and is checked at one with such an inlay."
        );
    }
    writeln!(io::stdout(), "interaction {}: {reason}", newest["id"])?;
    Ok(())
}

impl Event {
    /// The URL whose tap triggers this event.
    fn url(self, service: &Client, slug: &str) -> Result<Url> {
        if matches!(self, Self::NotChecked) {
            return Ok(Url::parse(&plain_url(service, slug)?)?);
        }
        let Some(inlay) = service.virtual_inlay(slug)? else {
            bail!("The tag {slug} has no virtual inlay. `tapdesk-service demo` loads some to try.");
        };
        let url = one_time_url(service, &inlay["id"])?;
        let url = match self {
            // Another last digit makes the MAC invalid.
            Self::NotVerified => {
                let last = if url.ends_with('0') { '1' } else { '0' };
                format!("{}{last}", &url[..url.len() - 1])
            }
            _ => url,
        };
        Ok(Url::parse(&url)?)
    }

    /// The `tag_verified` of such a tap.
    fn verdict(self) -> Value {
        match self {
            Self::Verified => true.into(),
            Self::NotVerified => false.into(),
            Self::NotChecked => Value::Null,
        }
    }
}
