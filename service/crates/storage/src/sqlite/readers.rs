//! The pool of reading connections. It grows to the number of simultaneous readers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::connection;
use crate::StorageError;

/// Most idle connections that are kept.
const KEPT: usize = 16;
/// Connections opened at the start in addition to one for each thread that answers: for background
/// reads.
const SPARE: usize = 2;

#[derive(Clone)]
pub(super) struct Readers {
    path: PathBuf,
    /// Idle connections; `None` once the database is closed.
    idle: Arc<Mutex<Option<Vec<Connection>>>>,
}

impl Readers {
    /// Opens as many connections as threads read at once, so that a tap need not open one: it would
    /// fail if visitors' connections used up all file descriptors that the system grants.
    pub(super) fn new(path: &Path) -> rusqlite::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let open = (threads + SPARE).min(KEPT);
        let idle = (0..open).map(|_| {
            let connection = connection::reader(path)?;
            // The first read also opens the log.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        });
        let idle = idle.collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            path: path.to_owned(),
            idle: Arc::new(Mutex::new(Some(idle))),
        })
    }

    /// Runs `op` on a connection that no other caller uses meanwhile. Every statement sees the
    /// newest commit; statements that must be consistent belong in one transaction.
    pub(super) fn with<T>(
        &self,
        op: impl FnOnce(&Connection) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let idle = match self.idle().as_mut() {
            Some(idle) => idle.pop(),
            None => return Err(StorageError::Unavailable("it is closed".to_owned())),
        };
        let connection = match idle {
            Some(connection) => connection,
            None => connection::reader(&self.path)?,
        };
        let result = op(&connection);
        if let Some(idle) = self.idle().as_mut()
            && idle.len() < KEPT
        {
            idle.push(connection);
        }
        result
    }

    /// Ends all reading. The writer's connection is then the last one to close, so that no log
    /// stays behind.
    pub(super) fn close(&self) {
        self.idle().take();
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
