//! The admin API: with a token, and by a `Host` of ours. It never reads a cache.

mod access;
mod body;
mod path;
mod tags;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::service::Service;

/// The document that describes the admin API and the public operations.
#[derive(OpenApi)]
#[openapi(info(
    title = "Tapdesk",
    description = "Taps, rolling keys, tag variables, and their administration."
))]
struct Document;

/// The routes of the admin API, and the document made from the same list.
fn api() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(Document::openapi()).nest(
        "/admin/v1",
        OpenApiRouter::new()
            .routes(routes!(tags::create))
            .routes(routes!(tags::get, tags::update)),
    )
}

/// The OpenAPI document, as it is committed at `service/openapi.json`.
pub fn openapi() -> utoipa::openapi::OpenApi {
    api().into_openapi()
}

/// The admin API as a router.
pub(super) fn router(service: &Arc<Service>) -> Router<Arc<Service>> {
    let (api, document) = api().split_for_parts();
    let document = document.to_json().unwrap_or_default();
    let document = get(move || async move { ([("content-type", "application/json")], document) });
    api.route_layer(middleware::from_fn_with_state(
        Arc::clone(service),
        access::require_token,
    ))
    .route("/openapi.json", document)
    .route("/metrics", get(access::metrics))
    .layer(middleware::from_fn_with_state(
        Arc::clone(service),
        access::require_host,
    ))
}
