//! Delivers webhooks: [`route`] makes deliveries of events, for each endpoint from its own position
//! on, and [`send`] makes the attempts.

mod route;
mod send;

use std::convert::Infallible;

use crate::panics;
use crate::service::Service;

pub(crate) use send::{TestError, test};

/// Delivers webhooks until it is dropped, which it may be at any time.
pub(crate) async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || route::run(service)) => never,
        never = panics::restarted(panicked, || send::run(service)) => never,
    }
}
