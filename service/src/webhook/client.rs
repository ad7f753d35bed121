//! The HTTP client of webhooks.
//!
//! It is reqwest, the ecosystem's usual client, with everything off that could lead a request
//! elsewhere: redirects, proxies of the environment, retries. Names are resolved by [`Resolver`],
//! and reqwest connects to the addresses that it answers and to no others: what was checked is
//! what is connected to, also if the name has another address a moment later.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect, retry};
use rustls::CertificateError;
use url::Url;

use super::address::is_public;
use super::attempt::{ANSWER_KEPT, AttemptOutcome, Failure};
use super::endpoint::literal_address;
use super::resolver::{Lookup, NOT_PUBLIC, Resolver, System};
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
        Self::with_lookup(private, Arc::new(System))
    }

    /// The same with names that are looked up elsewhere.
    fn with_lookup(private: bool, lookup: Arc<dyn Lookup>) -> Result<Self, ClientError> {
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
            .dns_resolver(Resolver { private, lookup })
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
            Ok(answer) => read(answer, now).await,
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

/// The status, and the beginning of the body. No more of it is read: the rest goes with its
/// connection, however long it is.
async fn read(mut answer: Response, now: Timestamp) -> (Option<u16>, String, Option<Failure>) {
    let status = answer.status();
    let retry_after = answer.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| pause(value.to_str().ok()?.trim(), now));
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
            retry_after,
        })
    };
    // Text of strangers: no part of a character, nothing that moves a cursor.
    let text = String::from_utf8_lossy(&kept);
    let text = text.chars().filter(|c| !c.is_control() || *c == '\n');
    (Some(status.as_u16()), text.collect(), why)
}

/// For how long a `Retry-After` asks to be left alone: seconds, or a date in any of the three forms
/// that HTTP has (RFC 9110, 5.6.7).
fn pause(asked: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let until = until.duration_since(UNIX_EPOCH).ok()?;
    let now = Duration::from_millis(now.millis().try_into().ok()?);
    Some(until.saturating_sub(now))
}

/// Why there is no answer, or no whole one: the innermost reason, without the URL.
fn failed(error: &reqwest::Error) -> Failure {
    if error.is_timeout() {
        return Failure::new("The endpoint did not answer within 15 seconds.");
    }
    let mut reason: &dyn Error = error;
    loop {
        if let Some(why) = certificate_fault(reason) {
            return Failure::new(why);
        }
        match reason.source() {
            Some(cause) => reason = cause,
            None => break,
        }
    }
    let reason = reason.to_string();
    Failure::new(if reason == NOT_PUBLIC {
        reason
    } else {
        format!("The endpoint cannot be reached: {reason}.")
    })
}

/// What is wrong with the endpoint's TLS certificate, and the way out, if that is the reason.
fn certificate_fault(reason: &(dyn Error + 'static)) -> Option<String> {
    // An error of the network keeps to itself what it was made of, which is often another one.
    if let Some(network) = reason.downcast_ref::<io::Error>() {
        return certificate_fault(network.get_ref()?);
    }
    let Some(rustls::Error::InvalidCertificate(fault)) = reason.downcast_ref() else {
        return None;
    };
    Some(match fault {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "The TLS certificate of the endpoint has expired. Renew it there.".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "The TLS certificate of the endpoint is not valid yet. Check the clocks of both machines."
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "The TLS certificate of the endpoint is for another host name.".to_owned()
        }
        CertificateError::UnknownIssuer => "The TLS certificate of the endpoint is signed by nobody whom this \
            machine trusts: it signed itself, or the endpoint does not send the certificates between."
            .to_owned(),
        CertificateError::Revoked => {
            "The TLS certificate of the endpoint is revoked. Replace it there.".to_owned()
        }
        // What else can be wrong is for whoever made it, in the words of their own tools.
        _ => "The TLS certificate of the endpoint is not valid. Look at it with a program such as openssl s_client."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use reqwest::dns::Resolve as _;
    use tokio::net::TcpListener;

    use super::*;
    use crate::webhook::resolver::LookingUp;

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_until_a_date() {
        // 1994-11-06T08:49:00Z.
        let now = Timestamp::from_millis(784_111_740_000);
        for (asked, seconds) in [
            ("120", Some(120)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
            ("Sun Nov  6 08:49:37 1994", Some(37)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(pause(asked, now), expected, "{asked}");
        }
    }

    /// Answers a name with one list of addresses after the other.
    #[derive(Debug, Default)]
    struct Turns(Mutex<Vec<Vec<SocketAddr>>>);

    impl Lookup for Turns {
        fn look_up(&self, _: String) -> LookingUp {
            let mut turns = self.0.lock().unwrap();
            let found = if turns.is_empty() {
                Vec::new()
            } else {
                turns.remove(0)
            };
            Box::pin(async move { Ok(found) })
        }
    }

    /// A listener, and a client that finds these addresses one after the other.
    async fn client(
        private: bool,
        turns: impl FnOnce(SocketAddr) -> Vec<Vec<SocketAddr>>,
    ) -> (TcpListener, Arc<Turns>, WebhookClient) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let turns = turns(listener.local_addr().unwrap());
        let turns = Arc::new(Turns(Mutex::new(turns)));
        let client = WebhookClient::with_lookup(private, Arc::clone(&turns) as Arc<dyn Lookup>);
        (listener, turns, client.unwrap())
    }

    async fn send(client: &WebhookClient, listener: &TcpListener) -> AttemptOutcome {
        let port = listener.local_addr().unwrap().port();
        let url = format!("http://rebinding.example:{port}/hook");
        let now = Timestamp::from_millis(0);
        let signed = Signed::new("test_1", now, b"{}", &[]);
        client.send(&url, &signed, "{}".to_owned(), now).await
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_the_second_time_is_refused() {
        let public: SocketAddr = "[2606:4700::1111]:1".parse().unwrap();
        let (listener, turns, client) =
            client(false, |loopback| vec![vec![public], vec![loopback]]).await;
        // The first time nothing is wrong with it.
        let resolver = Resolver {
            private: false,
            lookup: Arc::clone(&turns) as Arc<dyn Lookup>,
        };
        let found = resolver.resolve("rebinding.example".parse().unwrap()).await;
        assert_eq!(found.ok().unwrap().next(), Some(public));
        let second = send(&client, &listener).await.failure;
        assert_eq!(second, Some(Failure::new(NOT_PUBLIC)));
        assert!(turns.0.lock().unwrap().is_empty(), "it was looked up again");
        let connected = listener.into_std().unwrap().accept();
        assert_eq!(connected.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[tokio::test]
    async fn what_was_checked_is_what_is_connected_to() {
        // Nobody is at the second one: it would be asked for if the name was looked up again.
        let nobody: SocketAddr = "127.0.0.2:1".parse().unwrap();
        let (listener, turns, client) =
            client(true, |loopback| vec![vec![loopback], vec![nobody]]).await;
        let hang_up = async { listener.accept().await.map(drop) };
        let (outcome, called) = tokio::join!(send(&client, &listener), hang_up);
        called.unwrap();
        assert!(outcome.failure.is_some(), "it was hung up");
        assert_eq!(turns.0.lock().unwrap().len(), 1, "it is looked up once");
    }
}
