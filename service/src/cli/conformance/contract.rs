//! The tables of the contract, "Rolling Key and Tag Variable Interface", against any service that
//! speaks it.

mod payload;
mod protocol;
mod shape;
mod tap;
mod taps;
mod update;

use std::cell::Cell;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::{Value, json};
use url::Url;

use super::NotRun;
use super::check::Check;
use super::web::{self, Answer, Web};
use crate::options::Installation;
use taps::Taps;

/// How a service gets its taps, and which variable updates change.
#[derive(Args)]
pub(super) struct ServiceOptions {
    /// A tag URL that was not opened before. It is opened once. Repeat it for more checks.
    #[arg(long, value_name = "URL", requires = "service")]
    tap_url: Vec<String>,

    /// Tap the virtual inlay of this tag, with the admin token. For a Tapdesk service. At the end
    /// it moves simulated time by five minutes.
    #[arg(
        long,
        value_name = "SLUG",
        requires = "service",
        conflicts_with = "tap_url"
    )]
    simulated: Option<String>,

    /// The address of a page that a tap opened more than five minutes ago, with its `rk`.
    #[arg(long, value_name = "URL", requires = "service")]
    old_landing: Option<String>,

    /// A variable that the tag has.
    #[arg(
        long,
        value_name = "KEY",
        requires = "service",
        default_value = "registered"
    )]
    variable: String,

    #[command(flatten)]
    installation: Installation,
}

/// A service under test.
pub(super) struct Contract {
    web: Web,
    base: String,
    variable: String,
    taps: Taps,
    /// Whether an update was accepted, which uses up the key of the shared tap.
    has_updated: Cell<bool>,
}

/// A variable that no tag has.
const UNKNOWN: &str = "tapdesk_conformance_unknown";

impl Contract {
    /// The service at `service`, which must answer, rightly or wrongly.
    pub(super) fn open(service: &str, options: &ServiceOptions) -> Result<Self> {
        let url = super::web_url(service)?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        let contract = Self {
            web: Web::new(&url),
            variable: options.variable.clone(),
            taps: Taps::new(&base, options)?,
            has_updated: Cell::new(false),
            base,
        };
        match contract.payload("") {
            // The checks name each request that gets such an answer.
            Err(error) if !web::is_wrong_answer(&error) => {
                Err(NotRun::because(web::unusable(service, &error)))
            }
            _ => Ok(contract),
        }
    }

    /// How many more tap URLs its checks need.
    pub(super) fn missing_taps(&self) -> u64 {
        self.taps.missing()
    }

    /// The URL of an operation.
    fn operation(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The payload call with this text as `rk`, percent-encoded.
    fn payload(&self, rk: &str) -> Result<Answer, ureq::Error> {
        self.web.get(&self.payload_url(rk))
    }

    fn payload_url(&self, rk: &str) -> String {
        let rk: String = form_urlencoded::byte_serialize(rk.as_bytes()).collect();
        self.operation(&format!("{PAYLOAD}?rk={rk}"))
    }

    /// The payload of a key as received; `null` if the answer is no JSON.
    fn payload_of(&self, key: &str) -> Result<Value, ureq::Error> {
        Ok(self.payload(&encoded(key))?.json())
    }

    /// The update call with this text as key.
    fn update(&self, rolling_key: &str, data: &Value) -> Result<Answer, ureq::Error> {
        self.send(&json!({"rolling_key": rolling_key, "data": data}).to_string())
    }

    /// The update call with this body.
    fn send(&self, body: &str) -> Result<Answer, ureq::Error> {
        self.send_as("application/json", body)
    }

    /// The update call with a body of this media type.
    fn send_as(&self, kind: &str, body: &str) -> Result<Answer, ureq::Error> {
        let headers = [("content-type", kind)];
        let answer = self.web.post(&self.operation(UPDATE), &headers, body)?;
        self.has_updated
            .set(self.has_updated.get() || answer.status == 200);
        Ok(answer)
    }

    /// The change of the tag's variable.
    fn data(&self, value: &str) -> Value {
        json!({self.variable.as_str(): value})
    }
}

const PAYLOAD: &str = "/v2/interactions/rk_payload";
const UPDATE: &str = "/v2/interactions/data";

/// A rolling key in the form that is sent.
fn encoded(key: &str) -> String {
    STANDARD.encode(key)
}

/// The checks in the order in which they run. Those that use up the tap of the others come last,
/// and the last of all may move the time.
pub(super) fn checks() -> Vec<Check<Contract>> {
    let mut checks = tap::checks();
    checks.extend(payload::checks());
    checks.extend(shape::checks());
    checks.extend(protocol::checks());
    checks.extend(update::checks());
    checks.extend(update::last_checks());
    checks
}

/// The URL of a tap, as a client needs it.
fn parsed(url: &str) -> Result<Url> {
    super::web_url(url)
}
