//! Delivers webhooks: [`route`] makes deliveries of events, for each endpoint from its own position
//! on, and [`send`] makes the attempts.

mod route;
mod send;

use std::convert::Infallible;

use crate::clock::Timestamp;
use crate::panics;
use crate::service::Service;
use crate::storage::{Event, StorageError};
use crate::webhook::Alert;

pub(crate) use send::{TestError, test};

/// Delivers webhooks until it is dropped, which it may be at any time.
pub(crate) async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || route::run(service)) => never,
        never = panics::restarted(panicked, || send::run(service)) => never,
    }
}

/// Raises an alert: for webhooks, and for those who listen to events.
pub(crate) async fn raise(service: &Service, alert: Alert) -> Result<(), StorageError> {
    let at = service.storage.now().await?;
    let told = event(&alert, at);
    service.storage.raise_alert(alert).await?;
    service.storage.tell(told);
    Ok(())
}

fn event(alert: &Alert, at: Timestamp) -> Event {
    Event::Alert {
        alert: alert.kind,
        message: alert.message().to_owned(),
        at,
    }
}
