//! The checkpointer: a second connection that moves pages from the log to the database while the
//! writer commits.
//!
//! SQLite's own checkpoint runs within the commit that reaches its limit, and all waiting commands
//! wait for thousands of pages. A checkpoint beside the commits holds no lock that they need, but
//! cannot finish, because they go on to append. So the writer moves the last pages itself between
//! two commits, once they are few. The next commit then begins the log again.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::connection;

/// Pages in the log from which they are moved to the database.
const LOG_PAGES: i64 = 4_000;
/// Most pages that the writer moves itself: about a millisecond.
const REST_PAGES: i64 = 1_000;
/// Pages that the log grows by before the next attempt.
const STEP_PAGES: i64 = 500;

thread_local! {
    /// Pages in the log after a commit of this thread that has not been looked at. Zero if it
    /// wrote nothing.
    static COMMITTED: Cell<i64> = const { Cell::new(0) };
}

/// The writer's end of the checkpointer, with the state of the log.
pub(super) struct Checkpointer {
    /// `None` for a database in memory, which has no log.
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
    shared: Arc<Shared>,
    log: Log,
}

/// The log as the writer knows it.
#[derive(Default)]
struct Log {
    pages: i64,
    /// Pages at which the next step is due.
    due: i64,
}

#[derive(Default)]
struct Shared {
    /// Held while a checkpoint runs, so that emptying the log waits for its end.
    running: Mutex<()>,
    outcome: Mutex<Outcome>,
    /// Whether the last checkpoint failed; the first of several failures is logged.
    failing: AtomicBool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Outcome {
    #[default]
    Idle,
    Asked,
    /// Pages of the log that are in the database.
    Moved(i64),
    /// The log began again after the request, so that the number says nothing.
    Stale,
}

impl Checkpointer {
    /// Starts the thread for the database of the writer's `connection`, and ends SQLite's own
    /// checkpoints on it.
    pub(super) fn start(connection: &Connection) -> Self {
        let shared = Arc::<Shared>::default();
        let path = connection.path().filter(|path| !path.is_empty());
        let thread = path.map(|path| {
            connection.wal_hook(Some(|_, pages| {
                COMMITTED.set(pages.into());
                Ok(())
            }));
            let (ask, asked) = sync_channel(1);
            let (path, shared) = (Path::new(path).to_owned(), Arc::clone(&shared));
            let thread = std::thread::Builder::new()
                .name("sqlite-checkpoint".to_owned())
                .spawn(move || serve(&path, &asked, &shared))
                .expect("a thread can be started");
            (ask, thread)
        });
        Self {
            thread,
            shared,
            log: Log {
                due: LOG_PAGES,
                ..Log::default()
            },
        }
    }

    /// Takes the step that is due after the last commit of this thread. The connection is the
    /// writer's, in no transaction.
    pub(super) fn after_commit(&mut self, connection: &Connection) {
        let Some((ask, thread)) = &self.thread else {
            return;
        };
        let pages = COMMITTED.take();
        if pages == 0 {
            return;
        }
        if pages < self.log.pages {
            self.log.due = LOG_PAGES;
            let mut outcome = lock(&self.shared.outcome);
            *outcome = match *outcome {
                Outcome::Asked | Outcome::Stale => Outcome::Stale,
                Outcome::Idle | Outcome::Moved(_) => Outcome::Idle,
            };
        }
        self.log.pages = pages;
        if pages < self.log.due {
            return;
        }
        let outcome = *lock(&self.shared.outcome);
        match outcome {
            // A long checkpoint is looked for again after each commit.
            Outcome::Asked | Outcome::Stale if !thread.is_finished() => return,
            Outcome::Moved(moved) if pages - moved <= REST_PAGES => self.finish(connection),
            _ => {
                *lock(&self.shared.outcome) = Outcome::Asked;
                // A full channel has a request that is not answered yet. If the thread panicked,
                // all pages are left to the writer.
                if let Err(TrySendError::Disconnected(())) = ask.try_send(()) {
                    self.finish(connection);
                }
            }
        }
        self.log.due = pages + STEP_PAGES;
    }

    /// Waits for a checkpoint that runs, and prevents the next one while the guard lives.
    pub(super) fn pause(&self) -> MutexGuard<'_, ()> {
        lock(&self.shared.running)
    }

    /// Moves the last pages, so that the next commit begins the log again.
    fn finish(&self, connection: &Connection) {
        *lock(&self.shared.outcome) = Outcome::Idle;
        self.shared.moved(connection::checkpoint(connection));
    }
}

impl Shared {
    /// The number of pages that are in the database. A failure counts as none: commits are safe in
    /// the log, and a later checkpoint moves all of them.
    fn moved(&self, pages: rusqlite::Result<i64>) -> i64 {
        let failed_before = self.failing.swap(pages.is_err(), Ordering::Relaxed);
        pages.unwrap_or_else(|error| {
            if !failed_before {
                tracing::warn!(
                    "the log of the database grows, because its pages cannot be moved: {error}"
                );
            }
            0
        })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        if let Some((ask, thread)) = self.thread.take() {
            drop(ask);
            let _ = thread.join();
        }
    }
}

/// Runs a checkpoint for each request until the writer ends.
fn serve(path: &Path, asked: &Receiver<()>, shared: &Shared) {
    let mut open = None;
    while asked.recv().is_ok() {
        let pages = {
            let _running = lock(&shared.running);
            shared.moved(moved(path, &mut open))
        };
        let mut outcome = lock(&shared.outcome);
        *outcome = if *outcome == Outcome::Stale {
            Outcome::Idle
        } else {
            Outcome::Moved(pages)
        };
    }
}

fn moved(path: &Path, open: &mut Option<Connection>) -> rusqlite::Result<i64> {
    let connection = match open {
        Some(connection) => connection,
        None => open.insert(connection::checkpointer(path)?),
    };
    connection::checkpoint(connection)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
