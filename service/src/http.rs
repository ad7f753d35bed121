//! Every route, on one screen.

mod admin;
mod docs;
mod document;
mod error;
mod origin;
mod pages;
mod public;
mod serve;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, get};
use futures_util::FutureExt as _;

pub use admin::openapi;
pub use origin::Peer;
pub use serve::serve;

use crate::service::Service;

/// Who may use the admin API through a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Taps, keys, health: what the world may call.
    PublicOnly,
    /// The admin API, too: with a token, and by a `Host` of ours.
    WithAdmin,
}

/// The service as a router, for a listener or for calls in-process.
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
        Exposure::WithAdmin => public.merge(admin::router(&service)),
    };
    router
        .fallback(error::no_such_route)
        .method_not_allowed_fallback(error::no_such_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&service),
            observe,
        ))
        .with_state(service)
}

/// Counts and logs an answer by its matched path: the URI itself may carry a key.
/// A handler that panics is answered for, and its connection goes on.
async fn observe(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let response = response.unwrap_or_else(|_| {
        tracing::error!(%method, route, "the handler panicked");
        service.metrics.request_panic();
        error::panicked(route)
    });
    let status = response.status().as_u16();
    service.metrics.request(route, &method, status);
    tracing::debug!(%method, route, status, "answered");
    response
}
