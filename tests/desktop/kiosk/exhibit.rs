//! An owner's page that stores data in every place that a page has, and reports the data that it
//! found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tapdesk_tests::{Client, PATIENCE};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

const LANDING: &str = include_str!("landing.html");

#[derive(Clone)]
struct Told {
    visits: mpsc::UnboundedSender<Value>,
    pictures: Arc<AtomicU32>,
}

/// The server of the page.
pub(super) struct Exhibit {
    port: u16,
    heard: Mutex<(mpsc::UnboundedReceiver<Value>, Vec<String>)>,
    pictures: Arc<AtomicU32>,
    server: JoinHandle<()>,
}

impl Exhibit {
    pub(super) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (visits, heard) = mpsc::unbounded_channel();
        let pictures = Arc::new(AtomicU32::new(0));
        let state = Told {
            visits,
            pictures: Arc::clone(&pictures),
        };
        let pages = Router::new()
            .route("/landing", get(Html(LANDING)))
            .route("/found", post(found))
            .route("/picture", get(picture))
            .with_state(state);
        let server = tokio::spawn(async move { axum::serve(listener, pages).await.unwrap() });
        Self {
            port,
            heard: Mutex::new((heard, Vec::new())),
            pictures,
            server,
        }
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.host())
    }

    /// The data that the page finds in its next visit.
    pub(super) async fn next_visit(&self) -> Value {
        self.next().await["found"].clone()
    }

    /// The language in which the page is opened in its next visit.
    pub(super) async fn next_language(&self) -> String {
        let report = self.next().await;
        report["language"].as_str().unwrap_or_default().to_owned()
    }

    /// The next report of the page.
    async fn next(&self) -> Value {
        let mut heard = self.heard.lock().await;
        let next = tokio::time::timeout(PATIENCE, heard.0.recv());
        let received = next
            .await
            .expect("a visit begins")
            .expect("the server runs");
        heard
            .1
            .push(received["rk"].as_str().unwrap_or_default().to_owned());
        received
    }

    /// How often the picture was requested.
    pub(super) fn pictures(&self) -> u32 {
        self.pictures.load(Ordering::Relaxed)
    }

    /// Closes the server, and returns its address.
    pub(super) async fn close(self) -> String {
        self.server.abort();
        let _ = (&mut { self.server }).await;
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many of the visits' rolling keys belong to a verified tap at this service.
    pub(super) async fn verified(&self, service: &str) -> usize {
        let visitor = Client::new(service.to_owned(), "");
        let mut verified = 0;
        for rk in &self.heard.lock().await.1 {
            let key = STANDARD.encode(rk);
            let query: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
            let path = format!("/v2/interactions/rk_payload?rk={query}");
            let payload: Value = visitor
                .get(&path)
                .send()
                .await
                .unwrap()
                .json()
                .await
                .unwrap();
            verified += usize::from(payload["tag_verified"] == true);
        }
        verified
    }
}

async fn found(State(received): State<Told>, Json(found): Json<Value>) {
    let _ = received.visits.send(found);
}

async fn picture(
    State(received): State<Told>,
) -> ([(axum::http::HeaderName, &'static str); 2], &'static str) {
    received.pictures.fetch_add(1, Ordering::Relaxed);
    (
        [
            (CONTENT_TYPE, "image/svg+xml"),
            (CACHE_CONTROL, "public, max-age=86400"),
        ],
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160"><ellipse cx="120" cy="80" rx="60" ry="76" fill="peru"/></svg>"#,
    )
}
