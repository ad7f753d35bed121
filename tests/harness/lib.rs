//! The basis of the black-box tests, which see the product from outside.
//!
//! | Module | Subject |
//! |---|---|
//! | [`receiver`] | a server that receives webhooks, or refuses them |
//! | [`mail_server`] | a server that receives mails, or refuses them |
//! | [`service`] | a separate service for a test, in this process |
//! | [`process`] | the real binary in its own process |
//! | [`strace`] | the same under strace: traced, or killed in a system call |
//! | [`client`] | clients of a service: visitor, owner's domain, administrator |
//! | [`raw`] | a client that may violate HTTP |
//! | [`fixtures`] | experiences, tags and inlays for the tests |
//! | [`workbooks`](mod@workbooks) | spreadsheets as Excel and LibreOffice write them |
//! | [`libre_office`](mod@libre_office) | opens spreadsheets and saves them |
//! | [`injection`] | malicious input of strangers |
//! | [`postgres`] | a separate PostgreSQL server, and databases on it |
//! | [`virtual_card`] | chips in software, APDU by APDU |
//! | [`virtual_reader`] | a real PC/SC service with virtual readers for the chips |
//! | [`ports`] | ports for other programs that a test starts |
//! | [`length`](mod@length) | the length of long tests |
//! | [`moto`] | a server of buckets for backups |
//! | [`skip`](mod@skip) | tests that this machine cannot run |
//!
//! This crate does not read the database: a test sees only things that a user could see. It
//! searches files only for data that must not be in them.

pub mod client;
pub mod described;
pub mod fixtures;
pub mod injection;
pub mod length;
pub mod libre_office;
pub mod mail_server;
pub mod moto;
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
pub mod tables;
pub mod virtual_card;
#[cfg(unix)]
pub mod virtual_reader;
pub mod workbooks;

pub use client::{Answer, Answering, Client, TapResult, TryAnswering};
pub use described::assert_described;
pub use fixtures::{TestInlay, TestTag};
pub use injection::injections;
pub use length::{cases, length};
pub use mail_server::{Encryption, MailServer, TakenMail};
pub use moto::Moto;
pub use ports::{base_port, free_port, free_ports};
pub use postgres::TestDatabase;
pub use process::{Launch, ServiceProcess};
pub use raw::RawClient;
pub use receiver::{Reaction, Received, Receiver};
pub use service::{Options, TestService, network_address};
pub use skip::skip;
#[cfg(unix)]
pub use virtual_reader::Pcscd;

use std::fmt::Debug;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of every wait that the product does not limit: it only detects a hang. On a machine
/// that runs several suites at the same time, everything may take many times as long.
pub const PATIENCE: Duration = Duration::from_mins(3);

/// Calls `question` repeatedly until it returns a value, for at most [`PATIENCE`].
///
/// # Panics
/// When no answer comes.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    question: impl FnMut() -> F,
) -> T {
    eventually_within(PATIENCE, what, question).await
}

/// The same for at most `time`, for waits that are that long in the product itself.
///
/// # Panics
/// When no answer comes.
pub async fn eventually_within<T, F: Future<Output = Option<T>>>(
    time: Duration,
    what: &str,
    question: impl FnMut() -> F,
) -> T {
    let answer = poll(time, question).await;
    answer.unwrap_or_else(|| panic!("waited in vain: {what}"))
}

/// Calls `question` repeatedly until it returns a value, for at most `time`.
async fn poll<T, F: Future<Output = Option<T>>>(
    time: Duration,
    mut question: impl FnMut() -> F,
) -> Option<T> {
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..time.as_millis() / PAUSE.as_millis() {
        if let Some(answer) = question().await {
            return Some(answer);
        }
        tokio::time::sleep(PAUSE).await;
    }
    None
}

/// Repeats `attempt` until it succeeds, at most `most` times, and returns its value. For a promise
/// about time, which must hold for one attempt, and for a moment that a busy machine may miss.
///
/// # Panics
/// When every attempt fails.
pub async fn within_attempts<T, E: Debug>(
    most: usize,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let mut failures = Vec::new();
    while failures.len() < most {
        match attempt().await {
            Ok(value) => return value,
            Err(failure) => failures.push(failure),
        }
    }
    panic!("each of {most} attempts failed: {failures:?}");
}

/// Most tasks that run at the same time: each has a socket, and its service another one.
const AT_ONCE: usize = 1_000;

/// Runs `count` tasks in parallel, and returns their results in the order of the tasks. More than
/// 1,000 tasks run in rounds.
///
/// # Panics
/// When one of them does.
pub async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    count: usize,
    task: impl FnMut(usize) -> F,
) -> Vec<T> {
    // Shells allow 1,024 descriptors, and systems allow far more on request. If this system does
    // not, the tasks fail with a clear error.
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

/// All files below `folder` that contain `needle`.
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
