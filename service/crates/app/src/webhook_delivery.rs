//! Delivers webhooks. `route` creates deliveries from events, for each endpoint from its own
//! position. `send` makes the attempts, through `client`.

mod client;
mod resolver;
mod route;
mod send;

use std::convert::Infallible;

use crate::service::Service;
use domain::clock::Timestamp;
use domain::webhook::Alert;
use storage::panics;
use storage::{Event, StorageError};

pub(crate) use client::WebhookClient;
pub use send::{TestError, test};

/// Delivers webhooks until the future is dropped, which is allowed at any time.
pub async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || route::run(service)) => never,
        never = panics::restarted(panicked, || send::run(service)) => never,
    }
}

/// Raises an alert: stores it for webhooks, and sends it to listeners of the event stream.
pub(crate) async fn raise(service: &Service, alert: Alert) -> Result<(), StorageError> {
    let at = service.storage.now().await?;
    let event = event(&alert, at);
    service.storage.raise_alert(alert).await?;
    service.storage.tell(event);
    Ok(())
}

/// Sends an alert that is stored already to listeners of the event stream.
pub(crate) fn tell(service: &Service, alert: &Alert, at: Timestamp) {
    service.storage.tell(event(alert, at));
}

fn event(alert: &Alert, at: Timestamp) -> Event {
    Event::Alert {
        alert: alert.kind,
        message: alert.message().to_owned(),
        at,
    }
}
