//! `GET /health`: the process runs. `GET /ready`: the database answers, and no shutdown has begun.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use utoipa::ToSchema;

use crate::public::AsService;
use crate::serve::Closing;

/// The state of the service.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its shape is what counts")]
struct Probe {
    /// `ok`, `ready` or `not ready`.
    #[schema(pattern = "^(ok|ready|not ready)$")]
    status: String,
    /// If not ready: the reason, for people.
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// Check whether the process runs
#[utoipa::path(get, path = "/health", tag = "public", responses((status = OK, body = inline(Probe))))]
pub(crate) async fn health() -> Json<serde_json::Value> {
    Json(json!({"status": "ok"}))
}

/// Check whether the database answers
#[utoipa::path(
    get, path = "/ready", tag = "public",
    responses(
        (status = OK, body = inline(Probe)),
        (status = SERVICE_UNAVAILABLE, body = inline(Probe))
    )
)]
pub(crate) async fn ready(closing: Closing, AsService(service): AsService) -> Response {
    let reason = if closing.is_leaving() {
        "the service is being stopped".to_owned()
    } else if let Err(error) = service.storage.ready().await {
        error.to_string()
    } else {
        return Json(json!({"status": "ready"})).into_response();
    };
    let body = Json(json!({"status": "not ready", "reason": reason}));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}
