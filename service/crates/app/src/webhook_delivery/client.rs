//! The HTTP client of webhooks, and of chats.
//!
//! This is reqwest, with all features switched off that could send a request to another server:
//! redirects, proxies of the environment, and retries. [`Resolver`] resolves names, and reqwest
//! connects only to the addresses that it returns. So the checked address is the one that is used,
//! even if the name changes a moment later.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect, retry};
use url::Url;

use super::resolver::{NOT_PUBLIC, Resolver};
use crate::http_client::{Lookup, System, causes, certificate_fault, retry_after, tls};
use domain::clock::{Stopwatch, Timestamp};
use domain::webhook::{ANSWER_KEPT, AttemptOutcome, Failure, Signed, is_public, literal_address};

/// Time limit of an attempt, from the resolution of the name to the last byte of the answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept for the next delivery. Most servers keep connections longer.
const IDLE: Duration = Duration::from_secs(20);

/// Why the client could not be created.
#[derive(Debug, thiserror::Error)]
#[error("webhooks cannot be sent: {0}")]
pub struct ClientError(String);

/// The HTTP client that sends webhooks.
pub(crate) struct WebhookClient {
    http: Client,
    private: bool,
}

impl WebhookClient {
    /// A client for public addresses. With `private`, also for all others.
    pub(crate) fn new(private: bool) -> Result<Self, ClientError> {
        Self::with_lookup(private, Arc::new(System))
    }

    /// The same with another lookup of names, for tests.
    fn with_lookup(private: bool, lookup: Arc<dyn Lookup>) -> Result<Self, ClientError> {
        let http = Client::builder()
            .tls_backend_preconfigured(tls().map_err(ClientError)?)
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
            .map_err(|error| ClientError(error.to_string()))?;
        Ok(Self { http, private })
    }

    /// Makes an attempt, which takes at most [`PATIENCE`].
    pub(super) async fn send(
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

    /// Posts JSON that is not signed, to a chat. Takes at most [`PATIENCE`].
    pub(crate) async fn post(
        &self,
        url: &str,
        body: String,
        now: Timestamp,
    ) -> Result<(), Unposted> {
        let refused = |failure| Unposted {
            failure,
            status: None,
            unsure: false,
        };
        let request = self.request(url).map_err(refused)?.body(body);
        let answer = request.send().await.map_err(|error| Unposted {
            unsure: !error.is_connect(),
            ..refused(failed(&error))
        })?;
        let is_taken = answer.status().is_success();
        let (status, _, failure) = read(answer, now).await;
        match failure {
            Some(failure) if !is_taken => Err(Unposted {
                status,
                ..refused(failure)
            }),
            // Of an answer that was taken, the body makes no difference.
            _ => Ok(()),
        }
    }

    async fn answer(&self, url: &str, signed: &Signed, body: String) -> Result<Response, Failure> {
        let request = self
            .request(url)?
            .header("webhook-id", &signed.id)
            .header("webhook-timestamp", &signed.timestamp)
            .header("webhook-signature", &signed.signature)
            .body(body);
        request.send().await.map_err(|error| failed(&error))
    }

    /// A request with JSON to an address that is allowed.
    fn request(&self, url: &str) -> Result<RequestBuilder, Failure> {
        let url = Url::parse(url).map_err(|_| Failure::new("The URL is not valid."))?;
        // An address in the URL needs no resolution, so check it here.
        if let Some(address) = literal_address(&url)
            && !self.private
            && !is_public(address)
        {
            return Err(Failure::new(NOT_PUBLIC));
        }
        let request = self.http.post(url);
        Ok(request.header(CONTENT_TYPE, "application/json"))
    }
}

/// Why a message was not posted.
pub(crate) struct Unposted {
    pub(crate) failure: Failure,
    /// The HTTP status of the answer; `None` without an answer.
    pub(crate) status: Option<u16>,
    /// Whether the message may have arrived nevertheless.
    pub(crate) unsure: bool,
}

/// The status, and the beginning of the body. The rest is not read: it is dropped with its
/// connection, however long it is.
async fn read(mut answer: Response, now: Timestamp) -> (Option<u16>, String, Option<Failure>) {
    let status = answer.status();
    let retry_after = retry_after(answer.headers(), now);
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
    // The text comes from strangers: drop incomplete characters, and characters that move a cursor.
    let text = String::from_utf8_lossy(&kept);
    let text = text.chars().filter(|c| !c.is_control() || *c == '\n');
    (Some(status.as_u16()), text.collect(), why)
}

/// Why there is no complete answer: the innermost cause, without the URL.
fn failed(error: &reqwest::Error) -> Failure {
    if error.is_timeout() {
        return Failure::new("The endpoint did not answer within 15 seconds.");
    }
    if let Some(why) = causes(error).find_map(|cause| certificate_fault(cause, "the endpoint")) {
        return Failure::new(why);
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use reqwest::dns::Resolve as _;
    use tokio::net::TcpListener;

    use super::*;
    use crate::http_client::LookingUp;

    /// Resolves a name to one list of addresses after the other.
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

    /// A listener, and a client whose lookups return these addresses one after the other.
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
        // The first lookup returns an allowed address.
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
        // Nothing listens at the second address. A second lookup would use it and fail.
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
