//! Notifications: alerts and reports for people, by mail or to a chat.
//!
//! `compose` counts alerts in the outbox and makes messages: digests of alerts, and reports of
//! periods that are over. `send` attempts their deliveries. Both keep their progress in the
//! database, in the commit of each step, so that nodes share the work and a crash loses nothing.

mod chart;
mod chat;
mod compose;
mod digest;
mod mime;
mod one_line;
mod page;
mod report;
mod send;
mod smtp;
mod test;

use std::convert::Infallible;

use crate::service::Service;
use storage::{Lane, panics};

pub use compose::ComposeError;
pub use test::{Tested, test, test_mail};

/// Makes and sends messages until the future is dropped, which is allowed at any time.
pub async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || compose::run(service)) => never,
        never = panics::restarted(panicked, || send::run(service, Lane::Mail)) => never,
        never = panics::restarted(panicked, || send::run(service, Lane::Chat)) => never,
    }
}

/// Makes and sends the messages that are due now, for callers that move the clock and cannot wait for
/// the next round of [`run`]. Mails wait while the mail server fails.
///
/// # Errors
///
/// If the database fails, or if a message cannot be written. Other messages are sent.
pub async fn run_due(service: &Service) -> Result<(), ComposeError> {
    loop {
        let composed = compose::due(service).await;
        let (mails, chats) = tokio::join!(
            send::due(service, Lane::Mail),
            send::due(service, Lane::Chat)
        );
        composed?;
        if !(mails? || chats?) {
            return Ok(());
        }
    }
}
