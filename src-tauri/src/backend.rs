//! The service that the screens speak to: the one in this process, or a remote one. In both cases
//! the admin token is added here, so that the page never gets it.

mod feed;
mod remote;

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN, REFERER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tapdesk_service::Service;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::client::{Cursor, PROBLEM_MAX, Problem, authorize};
use tokio::sync::mpsc;
use tower::ServiceExt as _;

use crate::download::Arriving;

pub use remote::{RemoteService, address};

/// Largest response that is handed to the page, in bytes.
const ANSWER_MAX: usize = 1024 * 1024 * 1024;

/// How many pieces of a file may wait to be written.
const PIECES: usize = 4;
/// The name of this program in the audit log.
const PROGRAM: &str = "desktop";
/// The error code of the shell's own response, used if none came from the service.
const UNREACHABLE: &str = "unreachable";
/// The message for a file that ends too early.
const BROKEN_OFF: &str = "The download was incomplete. Nothing was saved.";

/// The service that the screens speak to.
#[derive(Clone)]
pub enum Backend {
    /// The service in this process, called without a socket.
    Embedded(Embedded),
    /// On another computer, or in another process, over HTTP.
    Remote(Arc<RemoteService>),
}

/// How the embedded service is reached without a socket.
#[derive(Clone)]
pub struct Embedded {
    /// All routes of the service, called without a socket.
    pub router: Router,
    /// The token of its administrators.
    pub token: AdminToken,
    /// The service itself, to subscribe to its events.
    pub service: Arc<Service>,
}

/// The `Host` of a tap at a URL template's address, as an extension of its request. The admin
/// API is never asked under another name than the service's own.
#[derive(Clone, Debug)]
pub struct TapHost(pub HeaderValue);

/// Marks the encoder's requests for the audit log, as an extension: pages cannot set extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByEncoder;

impl TapHost {
    /// The `Host` to send with a request; `None` for requests to the admin API.
    fn of<B>(request: &Request<B>) -> Option<HeaderValue> {
        let host = request.extensions().get::<Self>()?;
        let is_tap = !request.uri().path().starts_with("/admin/");
        is_tap.then(|| host.0.clone())
    }
}

impl Backend {
    /// Sends a request and reads the whole response. Only path, query, method, headers and body of
    /// the request are used.
    pub async fn request(&self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        match self {
            Self::Embedded(embedded) => embedded.request(request).await,
            Self::Remote(remote) => {
                let remote = Arc::clone(remote);
                tokio::task::spawn_blocking(move || remote.request(request))
                    .await
                    .unwrap_or_else(|_| {
                        problem(StatusCode::BAD_GATEWAY, "The call could not be made.")
                    })
            }
        }
    }

    /// A file of the service as it arrives: a GET, or a POST if there is a `body`. An `Err`, which
    /// may also come in the middle, is a sentence for people.
    pub async fn file(&self, path: &str, body: Option<Value>) -> Result<Arriving, String> {
        let request = file_request(path, body)?;
        match self {
            Self::Embedded(embedded) => embedded.file(request).await,
            Self::Remote(remote) => {
                let remote = Arc::clone(remote);
                let opened = tokio::task::spawn_blocking(move || remote.file(request)).await;
                opened.map_err(|_| "The call could not be made.".to_owned())?
            }
        }
    }

    /// Events of the service from now on. Ends when the receiver is dropped or the service ends.
    /// `again` is whether the listener heard the service before and may have missed events: then
    /// the first one is `{"event": "missed"}`.
    pub fn events(&self, again: bool) -> mpsc::Receiver<Value> {
        match self {
            Self::Embedded(embedded) => feed::of_storage(embedded.service.storage.events(), again),
            Self::Remote(remote) => feed::of_remote(remote, again),
        }
    }
}

impl Embedded {
    async fn answer(&self, request: Request<Vec<u8>>) -> Response<Body> {
        let host = TapHost::of(&request);
        let (mut parts, body) = request.into_parts();
        parts.headers = forwarded(&parts);
        authorize(&mut parts.headers, parts.uri.path(), &self.token, PROGRAM);
        parts
            .headers
            .insert(HOST, host.unwrap_or(HeaderValue::from_static("localhost")));
        parts.uri = local_part(&parts.uri);
        let request = Request::from_parts(parts, Body::from(body));
        let Ok(response) = self.router.clone().oneshot(request).await;
        response
    }

    async fn file(&self, request: Request<Vec<u8>>) -> Result<Arriving, String> {
        let response = self.answer(request).await;
        if !response.status().is_success() {
            let status = response.status();
            let body = to_bytes(response.into_body(), PROBLEM_MAX).await;
            return Err(Problem::parse(status, &body.unwrap_or_default()).to_string());
        }
        let cursor = Cursor::of(response.headers());
        let (sender, pieces) = mpsc::channel(PIECES);
        let mut body = response.into_body().into_data_stream();
        tokio::spawn(async move {
            while let Some(piece) = body.next().await {
                let piece = piece
                    .map(|piece| piece.to_vec())
                    .map_err(|_| BROKEN_OFF.to_owned());
                if sender.send(piece).await.is_err() {
                    return;
                }
            }
        });
        Ok(Arriving { pieces, cursor })
    }

    async fn request(&self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let (parts, body) = self.answer(request).await.into_parts();
        match to_bytes(body, ANSWER_MAX).await {
            Ok(body) => Response::from_parts(parts, body.into()),
            Err(_) => problem(
                StatusCode::BAD_GATEWAY,
                "The answer is too large to be shown.",
            ),
        }
    }
}

/// The request for a file.
fn file_request(path: &str, body: Option<Value>) -> Result<Request<Vec<u8>>, String> {
    let request = match body {
        None => Request::get(path).body(Vec::new()),
        Some(body) => Request::post(path)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string().into_bytes()),
    };
    request.map_err(|_| "The file does not exist.".to_owned())
}

/// The page's headers without those that concern only the page. Requests of the encoder name it.
fn forwarded(parts: &Parts) -> HeaderMap {
    let mut headers = parts.headers.clone();
    for name in [AUTHORIZATION, COOKIE, ORIGIN, REFERER, HOST] {
        headers.remove(name);
    }
    headers.remove("tapdesk-program");
    if parts.extensions.get::<ByEncoder>().is_some() {
        headers.insert("tapdesk-program", HeaderValue::from_static("encoder"));
    }
    headers
}

/// Path and query in the form of a request to a server.
fn local_part(uri: &Uri) -> Uri {
    let path = uri.path_and_query().cloned();
    path.map_or_else(|| Uri::from_static("/"), Uri::from)
}

/// An error response of the shell itself, in the shape of the admin API's (RFC 9457).
pub fn problem(status: StatusCode, detail: &str) -> Response<Vec<u8>> {
    problem_as(status, None, detail)
}

fn problem_as(status: StatusCode, code: Option<&str>, detail: &str) -> Response<Vec<u8>> {
    let mut problem = json!({
        "title": status.canonical_reason().unwrap_or_default(),
        "status": status.as_u16(),
        "detail": detail,
    });
    if let Some(code) = code {
        problem["code"] = code.into();
    }
    let mut response = Response::new(problem.to_string().into_bytes());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
