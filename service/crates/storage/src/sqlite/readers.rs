//! The pool of reading connections. It grows to the number of simultaneous readers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::connection;
use crate::StorageError;

/// Most idle connections that are kept.
const KEPT: usize = 16;
/// How long closing waits for reads. A read that takes longer, such as an export, keeps the log, and
/// the next start removes it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections opened at the start in addition to one for each thread that answers: for background
/// reads.
const SPARE: usize = 2;

#[derive(Clone)]
pub(super) struct Readers {
    path: PathBuf,
    pool: Arc<Mutex<Pool>>,
    /// Notified when a read ends.
    ended: Arc<Condvar>,
}

struct Pool {
    /// Idle connections; `None` once the database is closed.
    idle: Option<Vec<Connection>>,
    /// The number of connections in use.
    reading: usize,
}

/// A read; it ends when this is dropped.
struct Reading<'a>(&'a Readers);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut pool = self.0.pool();
        pool.reading -= 1;
        // Only closing waits, and waking costs a system call.
        if pool.idle.is_none() {
            self.0.ended.notify_all();
        }
    }
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
            pool: Arc::new(Mutex::new(Pool {
                idle: Some(idle),
                reading: 0,
            })),
            ended: Arc::default(),
        })
    }

    /// Runs `op` on a connection that no other caller uses meanwhile. Every statement sees the
    /// newest commit; statements that must be consistent belong in one transaction.
    pub(super) fn with<T>(
        &self,
        op: impl FnOnce(&Connection) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        // The connection is dropped before the read ends.
        let (_reading, idle) = self.begin()?;
        let connection = match idle {
            Some(connection) => connection,
            None => connection::reader(&self.path)?,
        };
        let result = op(&connection);
        if let Some(idle) = self.pool().idle.as_mut()
            && idle.len() < KEPT
        {
            idle.push(connection);
        }
        result
    }

    /// Begins a read, with an idle connection if there is one.
    fn begin(&self) -> Result<(Reading<'_>, Option<Connection>), StorageError> {
        let mut pool = self.pool();
        let Some(idle) = pool.idle.as_mut() else {
            return Err(StorageError::Unavailable("it is closed".to_owned()));
        };
        let idle = idle.pop();
        pool.reading += 1;
        Ok((Reading(self), idle))
    }

    /// Refuses further reads, and waits for those that run. The writer's connection is then the last
    /// one to close, so that no log stays behind.
    pub(super) fn close(&self) {
        let mut pool = self.pool();
        pool.idle = None;
        let ended = self
            .ended
            .wait_timeout_while(pool, PATIENCE, |pool| pool.reading > 0);
        drop(ended);
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn closing_waits_for_a_read_so_that_the_writer_removes_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tapdesk.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE rows (x INTEGER);")
            .unwrap();
        let readers = Readers::new(&path).unwrap();
        let (begun, has_begun) = mpsc::channel();
        let reading = readers.clone();
        let reading = thread::spawn(move || {
            reading.with(|connection| {
                let count = "SELECT count(*) FROM rows";
                let count = connection.query_row(count, [], |row| row.get::<_, i64>(0));
                begun.send(count.unwrap()).unwrap();
                // The read goes on until the database is being closed.
                while reading.with(|_| Ok(())).is_ok() {
                    thread::yield_now();
                }
                Ok(())
            })
        });
        assert_eq!(has_begun.recv(), Ok(0));
        readers.close();
        writer.close().unwrap();
        assert!(!folder.path().join("tapdesk.db-wal").exists());
        reading.join().unwrap().unwrap();
    }
}
