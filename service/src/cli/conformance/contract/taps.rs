//! Where the taps of a run come from, and how many it lacks.

use std::collections::VecDeque;

use anyhow::Result;
use serde_json::{Value, json};
use tapdesk_service::client::Client;
use tapdesk_service::clock::Stopwatch;

use super::{Contract, ServiceOptions};
use crate::cli::client::Connection;
use crate::cli::conformance::NotRun;
use crate::cli::conformance::web::{Answer, Web, rolling_key};
use crate::cli::tap::one_time_url;

/// How long a rolling key is valid (specification 8), in milliseconds.
const LIFE_MILLIS: u64 = 5 * 60 * 1000;
/// An age at which a key is still valid, with a minute for slow requests, in milliseconds.
const LATE_MILLIS: u64 = 4 * 60 * 1000;

/// The taps that a run can make.
pub(super) struct Taps {
    urls: VecDeque<String>,
    simulated: Option<Simulated>,
    /// The tap that all checks share that use up nothing.
    shared: Option<Tap>,
    /// A tap whose key is not needed any more.
    spare: Option<Tap>,
    old_landing: Option<String>,
    /// The key of a tap that is as old as [`LATE_MILLIS`].
    late: Option<String>,
    missing: u64,
}

/// A virtual inlay of a Tapdesk service.
struct Simulated {
    client: Client,
    inlay: Value,
}

/// A tap and its answer.
#[derive(Clone)]
pub(super) struct Tap {
    pub(super) url: String,
    pub(super) answer: Answer,
    /// Started before the URL was opened.
    pub(super) since: Stopwatch,
}

impl Tap {
    /// The rolling key in the redirect.
    pub(super) fn key(&self) -> Option<String> {
        self.answer.target().and_then(rolling_key)
    }
}

impl Taps {
    pub(super) fn new(base: &str, options: &ServiceOptions) -> Result<Self> {
        for url in &options.tap_url {
            super::parsed(url)?;
        }
        let simulated = options.simulated.as_ref().map(|slug| {
            let connection = Connection::at(base.to_owned(), options.installation.clone());
            let found = connection.open().and_then(|client| {
                let inlay = client.virtual_inlay(slug)?;
                Ok((client, inlay))
            });
            match found {
                Ok((client, Some(inlay))) => Ok(Simulated { client, inlay }),
                Ok((_, None)) => Err(NotRun::because(format!(
                    "The tag {slug} has no virtual inlay. `tapdesk-service demo` loads some."
                ))),
                Err(error) => Err(NotRun::because(error.to_string())),
            }
        });
        Ok(Self {
            urls: options.tap_url.iter().cloned().collect(),
            simulated: simulated.transpose()?,
            shared: None,
            spare: None,
            old_landing: options.old_landing.clone(),
            late: None,
            missing: 0,
        })
    }

    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// The URL of the next tap.
    fn next_url(&mut self) -> Option<String> {
        if let Some(Simulated { client, inlay }) = &self.simulated {
            return one_time_url(client, &inlay["id"]).ok();
        }
        let url = self.urls.pop_front();
        self.missing += u64::from(url.is_none());
        url
    }
}

impl Contract {
    /// Opens a URL as a new visitor.
    pub(super) fn open_tap(url: &str) -> Result<Tap, ureq::Error> {
        let parsed = super::parsed(url).map_err(|_| ureq::Error::BadUri(url.to_owned()))?;
        let since = Stopwatch::start();
        let answer = Web::new(&parsed).get(url)?;
        let url = url.to_owned();
        Ok(Tap { url, answer, since })
    }

    /// A tap of its own for a check that uses it up; `None` if there are no more.
    pub(super) fn fresh_tap(&mut self) -> Result<Option<Tap>, ureq::Error> {
        let Some(url) = self.taps.next_url() else {
            return Ok(None);
        };
        let tap = Self::open_tap(&url)?;
        self.taps.spare = Some(tap.clone());
        Ok(Some(tap))
    }

    /// The tap that is shared by checks that use up nothing.
    pub(super) fn shared_tap(&mut self) -> Result<Option<Tap>, ureq::Error> {
        if self.taps.shared.is_none() {
            // Only one URL is missing, however many checks ask for this tap.
            let missing = self.taps.missing;
            match self.taps.next_url() {
                Some(url) => self.taps.shared = Some(Self::open_tap(&url)?),
                None => self.taps.missing = missing.max(1),
            }
        }
        Ok(self.taps.shared.clone())
    }

    /// The key of the shared tap.
    pub(super) fn shared_key(&mut self) -> Result<Option<String>, ureq::Error> {
        Ok(self.shared_tap()?.and_then(|tap| tap.key()))
    }

    /// The newest tap of the other checks.
    pub(super) fn spare_tap(&self) -> Option<&Tap> {
        self.taps.spare.as_ref()
    }

    /// A key that has expired. With a virtual inlay, simulated time moves by the life of a key.
    pub(super) fn old_key(&mut self) -> Result<Option<String>, ureq::Error> {
        if let Some(landing) = &self.taps.old_landing {
            return Ok(rolling_key(landing));
        }
        if self.taps.simulated.is_none() {
            return Ok(None);
        }
        let (key, rest) = match self.taps.late.take() {
            Some(key) => (Some(key), LIFE_MILLIS - LATE_MILLIS),
            None => (self.fresh_tap()?.and_then(|tap| tap.key()), LIFE_MILLIS),
        };
        let Some(key) = key.filter(|_| self.advance(rest)) else {
            return Ok(None);
        };
        // The checks that follow use the same key.
        self.taps.old_landing = Some(landing_of(&key));
        Ok(Some(key))
    }

    /// A key of four minutes ago. Only simulated time can be moved to it.
    pub(super) fn late_key(&mut self) -> Result<Option<String>, ureq::Error> {
        if self.taps.simulated.is_none() {
            return Ok(None);
        }
        let key = self.fresh_tap()?.and_then(|tap| tap.key());
        self.taps.late = key.filter(|_| self.advance(LATE_MILLIS));
        Ok(self.taps.late.clone())
    }

    /// Moves simulated time. Returns whether the service did it.
    fn advance(&self, millis: u64) -> bool {
        let body = json!({"advance_ms": millis});
        self.taps
            .simulated
            .as_ref()
            .is_some_and(|simulated| simulated.client.post("/simulator/clock", &body).is_ok())
    }
}

/// An address of a page with this key, in the form of `--old-landing`.
fn landing_of(key: &str) -> String {
    let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
    format!("https://landing.invalid/?rk={key}")
}
