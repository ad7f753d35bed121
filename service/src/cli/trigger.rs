//! `trigger`: triggers an event. Taps of a virtual inlay cause most; of the others, `listen` gets a
//! sample.

mod visit;

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use tapdesk_service::client::Client;
use tapdesk_service::webhook::EventKind;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// The event to trigger. `listen` gets a sample of an event that no tap causes: of
    /// inlay.encoded, of webhook.test, and of alerts.
    #[arg(value_parser = events())]
    event: EventKind,

    /// The slug of a tag with a virtual inlay; `tapdesk-service demo` creates some. For a tap that
    /// is not checked, the slug of a tag without one. A sample needs no tag.
    #[arg(long, value_name = "SLUG")]
    tag: Option<String>,

    #[command(flatten)]
    connection: Connection,
}

/// Reads the name of an event.
fn events() -> impl TypedValueParser<Value = EventKind> {
    PossibleValuesParser::new(EventKind::ALL.map(|(_, name)| name))
        .try_map(|name| EventKind::parse(&name).ok_or("there is no such event"))
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let event = options.event;
    let said = match event {
        EventKind::TapVerified | EventKind::TapNotVerified | EventKind::TapNotChecked => {
            visit::tap(&service, event, options.slug()?)?
        }
        EventKind::TagTampered => visit::open_seal(&service, options.slug()?)?,
        EventKind::TagUpdated => visit::update(&service, options.slug()?)?,
        EventKind::SubmissionCreated => visit::send_form(&service, options.slug()?)?,
        _ => sample(&service, event)?,
    };
    writeln!(io::stdout(), "{said}")?;
    Ok(())
}

impl Options {
    /// The slug of the tag to tap.
    fn slug(&self) -> Result<&str> {
        let event = self.event;
        self.tag
            .as_deref()
            .with_context(|| format!("A tap causes {event}: name its tag with --tag."))
    }
}

/// Sends a sample to listeners of the event stream.
fn sample(service: &Client, event: EventKind) -> Result<String> {
    service.post("/simulator/events", &json!({"type": event}))?;
    Ok(format!("sample of {event}"))
}
