//! The product seen from outside: what the black-box tests stand on.
//!
//! | Module | Subject |
//! |---|---|
//! | [`service`] | a service of the test's own, in this process |
//! | [`process`] | the real binary as a process of its own |
//! | [`client`] | whoever calls a service: visitor, owner's domain, administrator |
//! | [`fixtures`] | experiences, tags and inlays to call it about |
//! | [`injection`] | what strangers may write |
//! | [`length`](mod@length) | how long the long tests are |
//!
//! Nothing here reads the database: what a test sees, a user could see.

pub mod client;
pub mod fixtures;
pub mod injection;
pub mod length;
pub mod process;
pub mod service;

pub use client::{Answer, Answering, Client, TapResult};
pub use fixtures::{TestInlay, TestTag};
pub use injection::injections;
pub use length::{cases, length};
pub use process::ServiceProcess;
pub use service::{Options, TestService};

use std::future::Future;
use std::time::Duration;

/// Asks `question` again and again until it answers something, for at most 30 seconds.
///
/// # Panics
/// When no answer comes.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut question: impl FnMut() -> F,
) -> T {
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..3_000 {
        if let Some(answer) = question().await {
            return answer;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("waited in vain: {what}");
}
