//! `GET /metrics`, for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;

use crate::service::Service;

pub(super) async fn metrics(State(service): State<Arc<Service>>) -> impl IntoResponse {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([("content-type", TYPE)], service.metrics.render())
}
