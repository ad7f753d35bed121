//! Removes erased data from the files. The commit that erases data also overwrites its place in the
//! database (`secure_delete`). The log still contains the earlier pages, so it is emptied.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::SqliteStorage;
use crate::StorageError;
use domain::clock::Stopwatch;

/// Longest time after which the log is emptied if anything was written: the log contains deleted or
/// replaced data for at most this long. Growing again slows the next commits a little, so not every
/// round of housekeeping empties it.
const EVERY: Duration = Duration::from_mins(10);
/// How often an erasure tries to empty the log while others read.
const TRIES: usize = 100;
/// Pause between two tries. All tries together take 5 to 7 seconds.
const PAUSE: Duration = Duration::from_millis(50);

/// When the log must be emptied next.
pub(super) struct Log(Mutex<State>);

struct State {
    emptied: Stopwatch,
    /// Whether the log still contains erased data.
    due: bool,
}

impl Log {
    /// The state of a log that has just been emptied.
    pub(super) fn emptied() -> Self {
        Self(Mutex::new(State {
            emptied: Stopwatch::start(),
            due: false,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteStorage {
    /// Empties the log as soon as no reader prevents it. If a reader stays too long, housekeeping
    /// continues to try.
    pub(super) async fn empty_log_now(&self) {
        self.log.state().due = true;
        for _ in 0..TRIES {
            match self.empty_log().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    // The erasure itself is committed.
                    tracing::warn!("what was erased is in the log of the database yet: {error}");
                    return;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        tracing::warn!("what was erased is in the log of the database until a long read ends");
    }

    /// Empties the log if it is due.
    pub(super) async fn empty_log_if_due(&self) -> Result<(), StorageError> {
        let is_due = {
            let state = self.log.state();
            state.due || state.emptied.elapsed() >= EVERY
        };
        if is_due {
            self.empty_log().await?;
        }
        Ok(())
    }

    async fn empty_log(&self) -> Result<bool, StorageError> {
        // Clear the mark first: an erasure meanwhile sets it again.
        let was_due = std::mem::take(&mut self.log.state().due);
        let emptied = self.writer.empty_log().await;
        let mut state = self.log.state();
        if matches!(emptied, Ok(true)) {
            state.emptied = Stopwatch::start();
        } else {
            state.due |= was_due;
        }
        emptied
    }
}
