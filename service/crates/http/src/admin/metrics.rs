//! `GET /metrics`: metrics for Prometheus.

use std::time::Duration;

use axum::response::IntoResponse;
use tokio::time::timeout;

use crate::admin::Asked;
use crate::error::Common;

/// The media type of `OpenMetrics`.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Time limit for the check of the database. Prometheus stops a scrape after 10 s, and the other
/// metrics matter most when the database does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Get the metrics
///
/// The metrics, in the text format of `OpenMetrics` for Prometheus. They reveal how often an
/// owner's tags are tapped, so they require an admin token: set `authorization.credentials_file` in
/// the scrape job.
#[utoipa::path(
    get, path = "/metrics", tag = "metrics",
    security(("token" = [])),
    responses(
        (status = OK, body = String, content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8", description = "The metrics"),
        Common
    )
)]
pub(super) async fn metrics(Asked(service): Asked) -> impl IntoResponse {
    // Check the database now: a stored result could report "up" after the database is gone.
    let ready = timeout(PATIENCE, service.storage.ready()).await;
    let is_up = ready.is_ok_and(|ready| ready.is_ok());
    let backlog = timeout(PATIENCE, service.storage.webhook_backlog());
    if is_up && let Ok(Ok(backlog)) = backlog.await {
        service.metrics.webhook_backlog(backlog);
    }
    let backlog = timeout(PATIENCE, service.storage.notification_backlog());
    if is_up && let Ok(Ok(backlog)) = backlog.await {
        service.metrics.notification_backlog(backlog);
    }
    let text = service.metrics.render(is_up, &service.storage.queues());
    ([("content-type", TYPE)], text)
}
