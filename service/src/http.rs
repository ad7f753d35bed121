//! Every route, on one screen.

mod access;
mod admin;
mod document;
mod error;
mod origin;
mod pages;
mod public;
mod serve;
mod tied;
mod traceparent;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, get};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

pub use admin::openapi;
pub use origin::Peer;
pub use serve::serve;

use crate::clock::Stopwatch;
use crate::service::Service;
use access::Audience;

/// Who may use the admin API through a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Taps, keys, health: what the world may call.
    PublicOnly,
    /// The admin API, too: with a token, and by a `Host` of ours.
    WithAdmin,
}

/// The service as a router, for a listener or for calls in-process.
///
/// A route that `access.rs` does not open asks for a token.
pub fn router(service: Arc<Service>, exposure: Exposure) -> Router {
    let public = Router::new()
        .route("/t/{slug}", any(public::tap))
        .route("/v2/interactions/rk_payload", any(public::payload))
        .route("/v2/interactions/data", any(public::data))
        .route("/media/{name}", get(public::media))
        .route("/stand-in", get(public::stand_in))
        .route("/health", get(public::health))
        .route("/ready", get(public::ready));
    let router = match exposure {
        Exposure::PublicOnly => public,
        Exposure::WithAdmin => public.merge(admin::router()),
    };
    router
        .fallback(error::no_such_route)
        .method_not_allowed_fallback(error::no_such_method)
        .layer(middleware::from_fn_with_state(
            (Arc::clone(&service), exposure),
            pass,
        ))
        .with_state(service)
}

/// What every request passes: may it, and what holds for every answer.
async fn pass(
    State((service, exposure)): State<(Arc<Service>, Exposure)>,
    request: Request,
    next: Next,
) -> Response {
    let stopwatch = Stopwatch::start();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    // Counted and logged by its matched path: the URI itself may carry a key.
    let path = route.as_ref().map_or("", MatchedPath::as_str).to_owned();
    let span = traceparent::span(request.headers(), &method, &path);
    let answer = async {
        let answer = answer(&service, exposure, route, request, next).await;
        let status = answer.status().as_u16();
        let time = stopwatch.elapsed();
        service.metrics.request(&path, &method, status, time);
        tracing::debug!(status, "answered");
        answer
    };
    answer.instrument(span).await
}

async fn answer(
    service: &Arc<Service>,
    exposure: Exposure,
    route: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let audience = Audience::of(route.as_ref().map(MatchedPath::as_str));
    let mut answer = match access::admit(service, exposure, audience, request).await {
        Ok((request, grant)) => {
            let answer = contained(service, route.as_ref(), request, next);
            match grant {
                None => answer.await,
                Some(grant) => tied::answered(service, grant, answer).await,
            }
        }
        Err(refused) => refused,
    };
    error::say_when_to_try_again(&mut answer);
    if audience != Audience::Public {
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

/// The answer of a handler, or for it if it panics: its connection goes on.
async fn contained(
    service: &Service,
    route: Option<&MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let route = route.map_or("", MatchedPath::as_str);
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    answer.unwrap_or_else(|_| {
        tracing::error!(route, "the handler panicked");
        service.metrics.request_panic();
        error::panicked(route)
    })
}
