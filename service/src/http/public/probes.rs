//! `GET /health`: the process lives. `GET /ready`: the database answers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::service::Service;

/// Whether the process lives
#[utoipa::path(get, path = "/health", tag = "public", responses((status = OK, body = BTreeMap<String, String>)))]
pub(in crate::http) async fn health() -> Json<serde_json::Value> {
    Json(json!({"status": "ok"}))
}

/// Whether the database answers
#[utoipa::path(
    get, path = "/ready", tag = "public",
    responses(
        (status = OK, body = BTreeMap<String, String>),
        (status = SERVICE_UNAVAILABLE, body = BTreeMap<String, String>)
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
