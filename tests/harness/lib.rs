//! The product seen from outside: what the black-box tests stand on.
//!
//! | Module | Subject |
//! |---|---|
//! | [`receiver`] | a server that takes webhooks, or does not
//! | [`service`] | a service of the test's own, in this process |
//! | [`process`] | the real binary as a process of its own |
//! | [`strace`] | the same under strace: traced, or killed in a call of the system |
//! | [`client`] | whoever calls a service: visitor, owner's domain, administrator |
//! | [`raw`] | whoever calls it against the rules of HTTP |
//! | [`fixtures`] | experiences, tags and inlays to call it about |
//! | [`injection`] | what strangers may write |
//! | [`postgres`] | a PostgreSQL server of the tests' own, and databases on it |
//! | [`virtual_card`] | chips in software, APDU by APDU |
//! | [`virtual_reader`] | a real PC/SC service with virtual readers to lay them on |
//! | [`ports`] | ports for other programs that a test starts |
//! | [`length`](mod@length) | how long the long tests are |
//! | [`skip`](mod@skip) | tests that this machine cannot run |
//!
//! Nothing here reads the database: what a test sees, a user could see. Files are
//! searched only for what must not be in them.

pub mod client;
pub mod described;
pub mod fixtures;
pub mod injection;
pub mod length;
pub mod ports;
pub mod postgres;
mod problems;
pub mod process;
pub mod raw;
pub mod receiver;
pub mod relay;
pub mod service;
pub mod skip;
pub mod strace;
pub mod virtual_card;
#[cfg(unix)]
pub mod virtual_reader;

pub use client::{Answer, Answering, Client, TapResult, TryAnswering};
pub use described::assert_described;
pub use fixtures::{TestInlay, TestTag};
pub use injection::injections;
pub use length::{cases, length};
pub use ports::free_port;
pub use postgres::TestDatabase;
pub use process::{Launch, ServiceProcess};
pub use raw::RawClient;
pub use receiver::{Reaction, Received, Receiver};
pub use service::{Options, TestService};
pub use skip::skip;
#[cfg(unix)]
pub use virtual_reader::Pcscd;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Asks `question` again and again until it answers something, for at most 30 seconds.
///
/// # Panics
/// When no answer comes.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    question: impl FnMut() -> F,
) -> T {
    eventually_within(Duration::from_secs(30), what, question).await
}

/// The same for at most `time`: for what the product itself lets wait for so long.
///
/// # Panics
/// When no answer comes.
pub async fn eventually_within<T, F: Future<Output = Option<T>>>(
    time: Duration,
    what: &str,
    mut question: impl FnMut() -> F,
) -> T {
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..time.as_millis() / PAUSE.as_millis() {
        if let Some(answer) = question().await {
            return answer;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("waited in vain: {what}");
}

/// Most tasks that run at once: each has its socket, and its service another.
const AT_ONCE: usize = 1_000;

/// What `count` tasks answer that run at once, in the order in which they were made.
/// Beyond 1,000 they go round by round.
///
/// # Panics
/// When one of them does.
pub async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    count: usize,
    task: impl FnMut(usize) -> F,
) -> Vec<T> {
    // Shells give 1,024 descriptors, and systems far more to who asks. Where
    // they do not, the tasks say so themselves.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let mut tasks = (0..count).map(task);
    let mut answers = Vec::with_capacity(count);
    while answers.len() < count {
        let round: Vec<_> = tasks.by_ref().take(AT_ONCE).map(tokio::spawn).collect();
        for task in round {
            answers.push(task.await.expect("a task does not panic"));
        }
    }
    answers
}

/// The files anywhere in `folder` that contain `needle`, whatever they are.
///
/// # Panics
/// When a file cannot be read.
pub fn files_containing(folder: &Path, needle: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("the file can be read");
                if memchr::memmem::find(&bytes, needle).is_some() {
                    found.push(path);
                }
            }
        }
    }
    found
}
