//! `listen`: forwards events to a server on this machine, like a webhook. It needs no public
//! address and stores nothing: events are not sent while it is not running. If the service restarts
//! meanwhile, it continues after the last tap.

mod webhook_events;

use std::io::{self, BufRead as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use serde_json::Value;
use tapdesk_service::client::{Client, Events};
use tapdesk_service::clock::{Clock as _, Stopwatch, SystemClock};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::webhook::Secret;
use url::Url;

use super::client::{Connection, plain_agent};
use super::tail::missed;

/// How long to try to reconnect. A service that restarts is available by then.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(super) struct Options {
    /// URL that events are sent to.
    #[arg(long, value_name = "URL")]
    forward_to: Url,

    /// Forward only events of simulated tags (true) or real tags (false). Default: both.
    #[arg(long)]
    simulated: Option<bool>,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    // The secret is valid until this command ends.
    let secret = Secret::generate(&OsEntropy);
    let mut stream = Stream {
        service: &service,
        options,
        secret: &secret,
        last: None,
    };
    let mut events = stream.open()?;
    // From here on no event is missed.
    writeln!(
        io::stdout(),
        "forwarding to {}, signed with {}",
        options.forward_to,
        secret.expose()
    )?;
    loop {
        let why = stream.forward(events)?;
        events = stream.open_again(why)?;
        say("connected again")?;
    }
}

/// The event stream of a service, across connections.
struct Stream<'a> {
    service: &'a Client,
    options: &'a Options,
    secret: &'a Secret,
    /// The last tap that was forwarded.
    last: Option<String>,
}

impl Stream<'_> {
    fn open(&self) -> Result<Events> {
        let last = self.last.as_deref();
        Ok(self.service.events(self.options.simulated, last, None)?)
    }

    /// Reconnects until the service is available again. If that fails, the error is `why`, the
    /// reason of the interruption.
    fn open_again(&self, why: anyhow::Error) -> Result<Events> {
        let begun = Stopwatch::start();
        loop {
            std::thread::sleep(PAUSE);
            match self.open() {
                Ok(events) => return Ok(events),
                Err(_) if begun.elapsed() < PATIENCE => {}
                Err(_) => return Err(why),
            }
        }
    }

    /// Forwards events until the connection ends, and returns the reason.
    fn forward(&mut self, events: Events) -> Result<anyhow::Error> {
        for line in events.lines() {
            let line = match line {
                Ok(line) => line,
                Err(error) => return Ok(anyhow!("The connection to the service broke: {error}.")),
            };
            // The data of an event is one line, which its id follows.
            if let Some(id) = line.strip_prefix("id:") {
                self.last = Some(id.trim().to_owned());
            }
            let Some(data) = line.strip_prefix("data:") else {
                continue;
            };
            let event: Value = serde_json::from_str(data.trim_start())?;
            if event["event"].is_null() {
                say(&missed(&event))?;
                continue;
            }
            match webhook_events::of(self.service, &event) {
                Ok(events) => {
                    for (id, body) in events {
                        self.post(&id, &body)?;
                    }
                }
                // The data may be erased already. Later events are forwarded nevertheless.
                Err(error) => {
                    let name = event["event"].as_str().unwrap_or_default();
                    say(&format!("{name} was not forwarded: {error}"))?;
                }
            }
        }
        Ok(anyhow!("The service has ended."))
    }

    fn post(&self, id: &str, body: &Value) -> Result<()> {
        let text = body.to_string();
        let now = SystemClock::start().now();
        let to = &self.options.forward_to;
        let mut request = plain_agent(to)
            .post(to.as_str())
            .header("content-type", "application/json");
        for (name, value) in self.secret.headers(id, now, text.as_bytes()) {
            request = request.header(name, value);
        }
        let outcome = match request.send(&text) {
            Ok(answer) => answer.status().as_u16().to_string(),
            Err(error) => error.to_string(),
        };
        let kind = body["type"].as_str().context("an event has a type")?;
        say(&format!("{kind} {id} → {outcome}"))
    }
}

fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
