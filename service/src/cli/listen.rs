//! `listen`: forwards events to a server on this machine, as a webhook would send them. No public
//! address is needed, and nothing is stored: what happens while it does not run is not sent. If the
//! service is started again meanwhile, it goes on behind the last tap.

mod told;

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use serde_json::Value;
use tapdesk_service::clock::{Clock as _, Stopwatch, SystemClock};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::webhook::Secret;
use ureq::Body;
use ureq::http::{Method, Response};
use url::Url;

use super::client::{Client, Connection, plain_agent};
use super::tail::missed;

/// For how long it asks for a service that is gone: one that is started again is there by then.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions.
const PAUSE: Duration = Duration::from_millis(500);

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

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    // It signs until this command ends.
    let secret = Secret::generate(&OsEntropy);
    let mut stream = Stream {
        service: &service,
        options,
        secret: &secret,
        last: None,
    };
    let mut events = stream.open()?;
    // From here on nothing is missed.
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

/// The events of a service, from one connection to the next.
struct Stream<'a> {
    service: &'a Client,
    options: &'a Options,
    secret: &'a Secret,
    /// The last tap that was forwarded.
    last: Option<String>,
}

impl Stream<'_> {
    fn open(&self) -> Result<Response<Body>> {
        let world = self.options.simulated;
        let world = world.map_or_else(|| "all".to_owned(), |simulated| simulated.to_string());
        let path = format!("/events?simulated={world}");
        let last = self.last.as_deref().map(|last| ("last-event-id", last));
        let headers: Vec<_> = last.into_iter().collect();
        self.service.send_with(Method::GET, &path, &headers, ())
    }

    /// The same, until the service is there again. `why` it was not is the error if it does not come.
    fn open_again(&self, why: anyhow::Error) -> Result<Response<Body>> {
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

    /// Forwards events until the connection ends; answers why it did.
    fn forward(&mut self, events: Response<Body>) -> Result<anyhow::Error> {
        for line in BufReader::new(events.into_body().into_reader()).lines() {
            let line = match line {
                Ok(line) => line,
                Err(error) => return Ok(anyhow!("The connection to the service broke: {error}.")),
            };
            // An event's data is one line, and its id comes behind it.
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
            match told::of(self.service, &event) {
                Ok(told) => {
                    for (id, body) in told {
                        self.post(&id, &body)?;
                    }
                }
                // It may be erased by now: what comes behind it is forwarded all the same.
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
