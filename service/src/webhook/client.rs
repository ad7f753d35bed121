//! The HTTP client of webhooks.
//!
//! It is reqwest, the ecosystem's usual client, with everything off that could lead a request
//! elsewhere: redirects, proxies of the environment, retries. Names are resolved by [`Public`],
//! and reqwest connects to the addresses that it answers and to no others: what was checked is
//! what is connected to, also if the name has another address a moment later.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect, retry};
use url::Url;

use super::address::is_public;
use super::attempt::{ANSWER_KEPT, AttemptOutcome, Failure};
use super::endpoint::literal_address;
use super::secret::Signed;
use crate::clock::{Stopwatch, Timestamp};

/// How long an attempt may take, from the name's resolution to the last byte of the answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a connection is kept for the next delivery: most endpoints' servers keep them longer.
const IDLE: Duration = Duration::from_secs(20);

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("webhooks cannot be sent: {0}")]
pub struct ClientError(String);

/// Sends webhooks.
pub struct WebhookClient {
    http: Client,
    private: bool,
}

impl WebhookClient {
    /// A client that reaches public addresses, and others too if `private` says so.
    pub fn new(private: bool) -> Result<Self, ClientError> {
        let failed = |error: &dyn Error| ClientError(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(&provider))
            .map_err(|error| failed(&error))?;
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?
            // It is the system's own verification of certificates.
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let http = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .retry(retry::never())
            .referer(false)
            .dns_resolver(Resolver { private })
            .timeout(PATIENCE)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(4)
            .user_agent(concat!("Tapdesk/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self { http, private })
    }

    /// Makes an attempt, which takes [`PATIENCE`] at most.
    pub(crate) async fn send(
        &self,
        url: &str,
        signed: &Signed,
        body: String,
        now: Timestamp,
    ) -> AttemptOutcome {
        let stopwatch = Stopwatch::start();
        let (status, response, failure) = match self.answer(url, signed, body).await {
            Ok(answer) => read(answer).await,
            Err(failure) => (None, String::new(), Some(failure)),
        };
        AttemptOutcome {
            at: now,
            took: stopwatch.elapsed(),
            status,
            response,
            failure,
        }
    }

    async fn answer(&self, url: &str, signed: &Signed, body: String) -> Result<Response, Failure> {
        let url = Url::parse(url).map_err(|_| Failure::new("The URL is not valid."))?;
        // An address in the URL is not resolved, and so is checked here.
        if let Some(address) = literal_address(&url)
            && !self.private
            && !is_public(address)
        {
            return Err(Failure::new(NOT_PUBLIC));
        }
        let request = self
            .http
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &signed.id)
            .header("webhook-timestamp", &signed.timestamp)
            .header("webhook-signature", &signed.signature)
            .body(body);
        request.send().await.map_err(|error| failed(&error))
    }
}

const NOT_PUBLIC: &str = "The address is not on the public internet.";

/// The status, and the beginning of the body. No more of it is read: the rest goes with its
/// connection, however long it is.
async fn read(mut answer: Response) -> (Option<u16>, String, Option<Failure>) {
    let status = answer.status();
    let retry_after = answer.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let mut kept = Vec::new();
    let mut broken = None;
    while kept.len() < ANSWER_KEPT {
        match answer.chunk().await {
            Ok(Some(chunk)) => {
                let room = ANSWER_KEPT - kept.len();
                kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            }
            Ok(None) => break,
            Err(error) => {
                broken = Some(failed(&error));
                break;
            }
        }
    }
    let why = if status.is_success() {
        broken
    } else {
        let why = if status.is_redirection() {
            format!("The endpoint redirects ({status}), which is not followed.")
        } else {
            format!("The endpoint answered {status}.")
        };
        Some(Failure {
            why,
            gone: status == StatusCode::GONE,
            retry_after: retry_after.map(Duration::from_secs),
        })
    };
    // Text of strangers: no part of a character, nothing that moves a cursor.
    let text = String::from_utf8_lossy(&kept);
    let text = text.chars().filter(|c| !c.is_control() || *c == '\n');
    (Some(status.as_u16()), text.collect(), why)
}

/// Why there is no answer, or no whole one: the innermost reason, without the URL.
fn failed(error: &reqwest::Error) -> Failure {
    if error.is_timeout() {
        return Failure::new("The endpoint did not answer within 15 seconds.");
    }
    let mut reason: &dyn Error = error;
    while let Some(cause) = reason.source() {
        reason = cause;
    }
    let reason = reason.to_string();
    Failure::new(if reason == NOT_PUBLIC {
        reason
    } else {
        format!("The endpoint cannot be reached: {reason}.")
    })
}

/// Resolves names as the system does, to public addresses alone.
struct Resolver {
    private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.private;
        Box::pin(async move {
            // The port is the URL's.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| private || is_public(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(NOT_PUBLIC.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
