//! A server that receives webhooks, or refuses them. Each request is verified with the published
//! library of Standard Webhooks.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use futures_util::stream;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::{assert_described, eventually};

/// A request that the receiver got.
#[derive(Clone, Debug)]
pub struct Received {
    /// The path of its URL.
    pub path: String,
    /// All of its headers.
    pub headers: HeaderMap,
    /// Its body, as it was received.
    pub body: Bytes,
    /// The status of the response; `None` if there was none.
    pub status: Option<u16>,
}

impl Received {
    /// The value of a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The value of its `webhook-id` header.
    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// Whether the response accepted the event.
    pub fn is_taken(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// The body as JSON, which must match the OpenAPI document.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> Value {
        let event = serde_json::from_slice(&self.body).expect("the body is JSON");
        assert_described(&event);
        event
    }

    /// Verifies its signature with the published library. The library's clock cannot be moved to
    /// the service's time. So the library signs the body again, and the signatures are compared.
    ///
    /// # Panics
    /// When no signature is that of `secret`.
    pub fn verify(&self, secret: &str) {
        let time = self.header("webhook-timestamp").parse().expect("seconds");
        let signed = signature(secret, self.id(), time, &self.body);
        let mut signatures = self.header("webhook-signature").split(' ');
        assert!(signatures.any(|one| one == signed), "{:?}", self.headers);
    }
}

/// The signature of a webhook, by the published library.
///
/// # Panics
/// When the secret does not have the form of the specification.
pub fn signature(secret: &str, id: &str, seconds: i64, body: &[u8]) -> String {
    let webhook = Webhook::new(secret).expect("the secret has the form of the specification");
    let signed = webhook.sign(id, seconds, body);
    signed.expect("the body is text")
}

/// A receiver's response to requests.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// This status, with these headers and this body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// 200, and an endless body in pieces of this size.
    Endless(usize),
    /// No response; the connection stays open.
    Silence,
    /// No response; the connection is closed.
    HangUp,
}

impl Reaction {
    /// A response with only a status.
    pub const fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), String::new())
    }

    /// The status of the response, if it has one.
    const fn answered(&self) -> Option<u16> {
        match self {
            Self::Answer(status, ..) => Some(*status),
            Self::Endless(_) => Some(200),
            Self::Silence | Self::HangUp => None,
        }
    }
}

#[derive(Default)]
struct Seen {
    received: Mutex<Vec<Received>>,
    reaction: Mutex<Option<Reaction>>,
    /// Responses to events of some types.
    of_types: Mutex<HashMap<&'static str, Reaction>>,
}

impl Seen {
    fn reaction(&self, body: &[u8]) -> Reaction {
        let event: Value = serde_json::from_slice(body).unwrap_or_default();
        let of_types = self.of_types.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reaction) = event["type"].as_str().and_then(|kind| of_types.get(kind)) {
            return reaction.clone();
        }
        let reaction = self.reaction.lock().unwrap_or_else(PoisonError::into_inner);
        reaction.clone().unwrap_or(Reaction::status(204))
    }
}

/// A running receiver, which is stopped when this is dropped.
pub struct Receiver {
    seen: Arc<Seen>,
    address: String,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Starts a receiver that answers 204.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port of the loopback is free");
        let address = listener.local_addr().expect("it is bound").to_string();
        let seen = Arc::new(Seen::default());
        let router = Router::new()
            .fallback(receive)
            .with_state(Arc::clone(&seen));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self {
            seen,
            address,
            task,
        }
    }

    /// The URL of its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The port of its endpoint.
    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap_or_default()
    }

    /// Sets the response from now on.
    pub fn react(&self, reaction: Reaction) {
        *self
            .seen
            .reaction
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(reaction);
    }

    /// Sets the response to events of this type from now on.
    pub fn react_to(&self, kind: &'static str, reaction: Reaction) {
        self.seen
            .of_types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(kind, reaction);
    }

    /// The ids of the events that it accepted so far.
    pub fn taken(&self) -> BTreeSet<String> {
        let received = self.received();
        let taken = received.iter().filter(|one| one.is_taken());
        taken.map(|one| one.id().to_owned()).collect()
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.seen
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits for the first `count` requests, and returns them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        eventually("requests to the receiver", async || {
            let received = self.received();
            (received.len() >= count).then_some(received)
        })
        .await
    }
}

async fn receive(
    State(seen): State<Arc<Seen>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let reaction = seen.reaction(&body);
    let received = Received {
        path: uri.path().to_owned(),
        headers,
        body,
        status: reaction.answered(),
    };
    seen.received
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(received);
    match reaction {
        Reaction::Answer(status, headers, body) => {
            let mut answer = Response::builder().status(status);
            for (name, value) in headers {
                answer = answer.header(name, value);
            }
            answer.body(Body::from(body)).expect("it is an answer")
        }
        Reaction::Endless(bytes) => {
            let chunk = Bytes::from(vec![b'x'; bytes]);
            let body = stream::unfold((), move |()| {
                let chunk = chunk.clone();
                async move {
                    // A body of single bytes is meant to be slow.
                    if chunk.len() == 1 {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                    Some((Ok::<_, std::io::Error>(chunk), ()))
                }
            });
            Response::new(Body::from_stream(body))
        }
        Reaction::Silence => std::future::pending().await,
        // Only the task of this connection panics, and nobody awaits it.
        Reaction::HangUp => std::panic::resume_unwind(Box::new(())),
    }
}
