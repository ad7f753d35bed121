//! `GET /metrics`, for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;

use crate::http::error::Common;
use crate::service::Service;

/// The media type of `OpenMetrics`.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Get the metrics
///
/// For Prometheus, in the text format of `OpenMetrics`. They tell how much an owner's tags are
/// tapped, so they need the admin token: `authorization.credentials_file` of a scrape job.
#[utoipa::path(
    get, path = "/metrics", tag = "metrics",
    security(("token" = [])),
    responses(
        (status = OK, body = String, content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8", description = "The metrics"),
        Common
    )
)]
pub(super) async fn metrics(State(service): State<Arc<Service>>) -> impl IntoResponse {
    ([("content-type", TYPE)], service.metrics.render())
}
