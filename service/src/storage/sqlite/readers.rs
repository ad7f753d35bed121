//! The pool of reading connections: as many as read at once, kept for the next.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::connection;
use crate::storage::StorageError;

/// Connections kept while nobody reads.
const KEPT: usize = 16;
/// Connections that are open from the start, beside one for each thread that answers: for what
/// reads in the background.
const SPARE: usize = 2;

#[derive(Clone)]
pub(super) struct Readers {
    path: PathBuf,
    /// `None` once the database is closed.
    idle: Arc<Mutex<Option<Vec<Connection>>>>,
}

impl Readers {
    /// Opens as many as threads read at once. A tap needs none of its own then: visitors whose
    /// connections take all descriptors that the system grants would make it fail.
    pub(super) fn new(path: &Path) -> rusqlite::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let open = (threads + SPARE).min(KEPT);
        let idle = (0..open).map(|_| {
            let connection = connection::reader(path)?;
            // The first read opens the log as well.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        });
        let idle = idle.collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            path: path.to_owned(),
            idle: Arc::new(Mutex::new(Some(idle))),
        })
    }

    /// Runs `op` on a connection of its own. Every statement sees the newest
    /// commit; several that must agree belong in one transaction.
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

    /// Lets nobody read any more. The last connection to go is then the writer's,
    /// which leaves no log behind.
    pub(super) fn close(&self) {
        self.idle().take();
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
