//! A server that takes webhooks, or does not. Each request is verified with the published library
//! of Standard Webhooks.

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

/// A request that came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// The status that it was answered with, if it was.
    pub status: Option<u16>,
}

impl Received {
    /// A header; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Its `webhook-id`.
    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// Whether it was answered as taken.
    pub fn is_taken(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Its body as JSON, which is as the OpenAPI document describes it.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> Value {
        let event = serde_json::from_slice(&self.body).expect("the body is JSON");
        assert_described(&event);
        event
    }

    /// Verifies its signature with the published library. The time is the service's, which tests
    /// move, and the library's own is not moved: so it signs, and the signatures are compared.
    ///
    /// # Panics
    /// When no signature is that of `secret`.
    pub fn verify(&self, secret: &str) {
        let webhook = Webhook::new(secret).expect("the secret has the form of the specification");
        let time = self.header("webhook-timestamp").parse().expect("seconds");
        let signed = webhook
            .sign(self.id(), time, &self.body)
            .expect("the body is text");
        let mut signatures = self.header("webhook-signature").split(' ');
        assert!(signatures.any(|one| one == signed), "{:?}", self.headers);
    }
}

/// What a receiver answers.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// This status, with these headers and this body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// 200, and a body that does not end: so many bytes at once.
    Endless(usize),
    /// Nothing.
    Silence,
    /// Nothing, and the connection is closed.
    HangUp,
}

impl Reaction {
    /// A status alone.
    pub const fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), String::new())
    }

    /// The status that is answered, if one is.
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
    /// Those to events of some types.
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

/// A running receiver. Dropped, it is gone.
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
    /// One that answers 204.
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

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Its port.
    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap_or_default()
    }

    /// How it answers from now on.
    pub fn react(&self, reaction: Reaction) {
        *self
            .seen
            .reaction
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(reaction);
    }

    /// How it answers events of this type from now on.
    pub fn react_to(&self, kind: &'static str, reaction: Reaction) {
        self.seen
            .of_types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(kind, reaction);
    }

    /// The ids of the events that it took so far.
    pub fn taken(&self) -> BTreeSet<String> {
        let received = self.received();
        let taken = received.iter().filter(|one| one.is_taken());
        taken.map(|one| one.id().to_owned()).collect()
    }

    /// What came so far.
    pub fn received(&self) -> Vec<Received> {
        self.seen
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The first `count` requests, once they have come.
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
                    // As slow as a byte at a time is meant to be.
                    if chunk.len() == 1 {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                    Some((Ok::<_, std::io::Error>(chunk), ()))
                }
            });
            Response::new(Body::from_stream(body))
        }
        Reaction::Silence => std::future::pending().await,
        // What serves a connection ends with it, and nobody is told of a panic.
        Reaction::HangUp => std::panic::resume_unwind(Box::new(())),
    }
}
