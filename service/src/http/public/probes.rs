//! `GET /health`: the process lives. `GET /ready`: the database answers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use utoipa::ToSchema;

use crate::service::Service;

/// The state of the service.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its shape is what counts")]
struct Probe {
    /// `ok`, `ready` or `not ready`.
    #[schema(pattern = "^(ok|ready|not ready)$")]
    status: String,
    /// If not ready: why, in words.
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// Whether the process lives
#[utoipa::path(get, path = "/health", tag = "public", responses((status = OK, body = inline(Probe))))]
pub(in crate::http) async fn health() -> Json<serde_json::Value> {
    Json(json!({"status": "ok"}))
}

/// Whether the database answers
#[utoipa::path(
    get, path = "/ready", tag = "public",
    responses(
        (status = OK, body = inline(Probe)),
        (status = SERVICE_UNAVAILABLE, body = inline(Probe))
    )
)]
pub(in crate::http) async fn ready(State(service): State<Arc<Service>>) -> Response {
    match service.storage.ready().await {
        Ok(()) => Json(json!({"status": "ready"})).into_response(),
        Err(error) => {
            let body = Json(json!({"status": "not ready", "reason": error.to_string()}));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}
