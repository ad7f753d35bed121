//! SQLite: one writer thread that commits in groups, and a pool of readers.
//!
//! A commit is on disk before its caller goes on: WAL with `synchronous=FULL`,
//! asserted on every connection. One process owns the file (a lock beside it).
//! No other statement touches the database than those in this folder and in `plane`.

mod audit;
mod backup;
mod connection;
mod epochs;
mod expired_keys;
mod fold;
mod interactions;
mod lock;
mod migrate;
mod plane;
mod ranking;
mod readers;
mod recent_keys;
mod restore;
mod row;
mod schema;
pub(super) mod search;
mod simulated_time;
mod sweep;
mod taps;
mod transfer;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::broadcast;
use tokio::time::timeout;

pub use connection::APPLICATION_ID;
pub use migrate::{OpenError, check_audit, check_sqlite, examine};
pub use restore::{Restore, move_aside};
pub use transfer::SqliteEnd;

use super::notes::Notes;
use super::plane::administration::{ANY_WRAPPED_KEY, ANY_WRAPPED_ROOT};
use super::{BackupContent, BackupNote, Part, Queue, Storage, StorageError, StorageMetrics, Swept};
use crate::clock::{Clock, Timestamp};
use crate::entropy::Entropy;
use crate::panics;
use crate::storage::{Event, Told};
use expired_keys::ExpiredKeys;
use fold::Slice;
use lock::Lock;
use ranking::Rankings;
use readers::Readers;
use recent_keys::RecentKeys;
use writer::{Write, Writer};

/// How long the writer may take to answer that it is ready: longer than any step
/// of what writes many rows.
const READY: Duration = Duration::from_secs(5);

/// Events kept for a slow listener before it misses some.
const EVENT_BACKLOG: usize = 4096;

/// A database file that this process owns.
pub struct SqliteStorage {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    readers: Readers,
    writer: Writer,
    events: broadcast::Sender<Told>,
    notes: Notes,
    rankings: Rankings,
    /// The tag from which the next round of housekeeping looks for old visitors.
    sweep_position: Arc<sweep::Position>,
    /// Keys that are expired whatever the clock says.
    expired_keys: Arc<ExpiredKeys>,
    /// Keys of the latest taps.
    recent_keys: Arc<RecentKeys>,
    /// Simulated time is ahead of the clock by this, in milliseconds.
    simulated_offset: AtomicI64,
    closed: AtomicBool,
    /// Given back when the database is closed.
    lock: Mutex<Option<Lock>>,
}

impl SqliteStorage {
    /// Opens the database at `path`, creating it if there is none; migrates it,
    /// after a backup, if it is older than this program.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        Self::open_folding(path, clock, entropy, fold::EVERY)
    }

    /// The same, with another time for which the counts of taps may be in memory alone. For
    /// tests: what is folded, and when, is seen by nobody. With [`Duration::MAX`] it is
    /// [`Self::fold`] that folds, or closing.
    pub fn open_folding(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
        fold_every: Duration,
    ) -> Result<Self, OpenError> {
        let lock = Lock::take(path)?;
        let path = lock.database().to_owned();
        let connection = migrate::open(&path, clock.now(), entropy)?;
        let simulated_offset = simulated_time::offset(&connection)?;
        let expired_keys = ExpiredKeys::at_start(&connection, clock.now(), simulated_offset)?;
        // This process is the only one: nobody is at work on an import that is not finished.
        connection.execute("UPDATE imports SET touched_at = 0", [])?;
        // Nor with deliveries whose outcome was not stored.
        connection.execute_batch(
            "UPDATE webhook_deliveries SET next_at = 0 WHERE waits AND attempts = 0;
             UPDATE webhook_states SET next_at = 0 WHERE waiting > 0",
        )?;
        let folded = fold::recover(&connection)
            .map_err(|error| OpenError::damaged(&path, &error.to_string()))?;
        let recent_keys = RecentKeys::of(&connection, &folded)?;
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        Ok(Self {
            readers: Readers::new(&path)?,
            path,
            writer: Writer::start(
                connection,
                Arc::clone(&clock),
                events.clone(),
                folded,
                fold_every,
            ),
            clock,
            events,
            notes: Notes::default(),
            rankings: Rankings::default(),
            sweep_position: Arc::default(),
            expired_keys: Arc::new(expired_keys),
            recent_keys,
            simulated_offset: AtomicI64::new(simulated_offset),
            closed: AtomicBool::new(false),
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Folds counts of taps into `rows` rows, so that a test can stop between any two. Whether more are left.
    pub async fn fold(&self, rows: usize) -> Result<bool, StorageError> {
        let slice = Slice {
            rows,
            ..Slice::LONG
        };
        let folded = self.writer.folded().clone();
        self.write(move |write| {
            if !folded.folds() {
                write.fold.begin_pass();
            }
            write.fold.fold(slice)
        })
        .await
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads on the calling thread. A hop to another one costs more than the
    /// short reads of a tap; what may take long goes through [`Self::read_long`].
    fn read<T>(
        &self,
        op: impl FnOnce(&Connection) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.counted(panics::catch(|| self.readers.with(op)))
    }

    /// Reads on a thread that may block.
    async fn read_long<T: Send + 'static>(
        &self,
        op: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let readers = self.readers.clone();
        let read = tokio::task::spawn_blocking(move || panics::catch(|| readers.with(op)));
        let read = read.await;
        self.counted(read.map_err(|error| StorageError::Failed(error.to_string()))?)
    }

    /// Counts a read that panicked; the writer counts its commands itself.
    fn counted<T>(&self, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
        outcome.inspect_err(|error| {
            if matches!(error, StorageError::Panicked) {
                self.writer.metrics().panicked();
            }
        })
    }

    /// Runs `op` on the writer and returns once its commit is on disk.
    ///
    /// `op` may run twice: where it, or another command of its group, fails,
    /// the group is rolled back and each command runs again alone.
    async fn write<T: Send + 'static>(
        &self,
        op: impl Fn(&mut Write<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.writer.run(op).await
    }
}

/// Any inlay's or master key in its stored form.
fn any_wrapped_key(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    let first = |sql: &str| connection.query_row(sql, [], |row| row.get(0)).optional();
    // A backup of an earlier version has no such table.
    let has_roots = "SELECT 1 FROM sqlite_schema WHERE name = 'encoding_roots'";
    match first(ANY_WRAPPED_KEY)? {
        None if connection.prepare(has_roots)?.exists([])? => first(ANY_WRAPPED_ROOT),
        found => Ok(found),
    }
}

/// The highest id that an interaction ever had; 0 for none. Interactions go by
/// their time, so the highest id may be gone: housekeeping notes it then.
fn last_interaction(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT max(coalesce((SELECT max(id) FROM interactions), 0),
                    coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?1), 0))",
        [sweep::HIGHEST_REMOVED],
        |row| row.get(0),
    )
}

#[async_trait]
impl Storage for SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn now(&self) -> Result<Timestamp, StorageError> {
        Ok(self.clock.now())
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError> {
        Ok(self.clock.try_advance(millis))
    }

    fn simulated_offset(&self) -> i64 {
        self.simulated_offset.load(Ordering::Relaxed)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError> {
        let millis = i64::from(millis);
        let offset = self
            .write(move |write| simulated_time::advance(write.connection, millis))
            .await?;
        // In force once it is on disk: a key must not be dated later than a restart knows.
        self.simulated_offset.fetch_max(offset, Ordering::Relaxed);
        Ok(offset)
    }

    #[cfg(unix)]
    fn free_space(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&self.path).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    fn tell(&self, event: Event) {
        // Nobody needs to listen.
        let _ = self.events.send(event.into());
    }

    fn events(&self) -> broadcast::Receiver<Told> {
        self.events.subscribe()
    }

    fn configuration_epoch(&self) -> Option<u64> {
        Some(self.writer.epochs().newest())
    }

    fn changed_at(&self, part: Part) -> Option<u64> {
        Some(self.writer.epochs().of(part))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn ready(&self) -> Result<(), StorageError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StorageError::Unavailable("it is being closed".to_owned()));
        }
        self.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?))?;
        match timeout(READY, self.write(|write| write.probe())).await {
            Ok(Err(StorageError::Full)) => Ok(()),
            Ok(answer) => answer,
            Err(_) => Err(StorageError::Unavailable(
                "its writer does not answer".to_owned(),
            )),
        }
    }

    fn metrics(&self) -> &StorageMetrics {
        self.writer.metrics()
    }

    fn queues(&self) -> Vec<Queue> {
        vec![self.writer.queue()]
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn check_writable(&self) -> Result<(), StorageError> {
        self.write(|write| {
            // A page that was touched is written, even if it is as it was.
            write.connection.execute_batch(
                "INSERT INTO settings (name, value) VALUES ('writable', '');
                 DELETE FROM settings WHERE name = 'writable'",
            )?;
            Ok(())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        let unfolded = move |write: &mut Write<'_>| sweep::removes_unfolded(write, keep_since);
        if self.write(unfolded).await? {
            self.writer.settle().await?;
        }
        let (keys, now) = (Arc::clone(&self.expired_keys), self.clock.now());
        let expiry = self.read_long(move |connection| keys.look(connection, now));
        let expiry = expiry.await?;
        let keys = Arc::clone(&self.expired_keys);
        let position = Arc::clone(&self.sweep_position);
        let moving = self.notes.move_on().await;
        let reads = self.notes.payload_reads.take();
        let refused = self.notes.refused_updates.take();
        let swept = self.write(move |write| {
            sweep::store_refused_updates(write, &refused)?;
            if let Some(expiry) = expiry {
                keys.write(write.connection, expiry)?;
            }
            sweep::run(write, keep_since, &reads, &position)
        });
        let swept = swept.await?;
        drop(moving);
        if let Some(expiry) = expiry {
            self.expired_keys.publish(expiry);
        }
        Ok(swept)
    }

    async fn forget_replaced(&self) -> Result<(), StorageError> {
        let path = self.path.clone();
        let compacted = tokio::task::spawn_blocking(move || connection::compact(&path));
        let compacted = compacted.await;
        compacted.map_err(|error| StorageError::Failed(error.to_string()))?
    }

    async fn backup(&self, note: BackupNote) -> Result<File, StorageError> {
        // A copy is exact at any moment; this one needs nothing read again at its start.
        self.writer.settle().await?;
        let path = self.path().to_owned();
        self.read_long(move |connection| backup::copy(connection, &path, &note))
            .await
    }

    fn makes_backups(&self) -> bool {
        true
    }

    async fn check_backup(&self, file: &Path) -> Result<BackupContent, String> {
        let (file, now) = (file.to_owned(), self.clock.now());
        let checked = tokio::task::spawn_blocking(move || restore::rehearse(&file, now));
        match checked.await {
            Ok(checked) => checked.map_err(|error| error.to_string()),
            Err(error) => Err(format!("The check was ended: {error}.")),
        }
    }

    async fn close(&self) {
        let moving = self.notes.move_on().await;
        let reads = self.notes.payload_reads.take();
        let refused = self.notes.refused_updates.take();
        // Both are for the trace alone; a failure here loses nothing else.
        let _ = self
            .write(move |write| {
                sweep::store_refused_updates(write, &refused)?;
                sweep::store_payload_reads(write, &reads)
            })
            .await;
        drop(moving);
        self.writer.settle_at_end().await;
        self.closed.store(true, Ordering::Release);
        self.readers.close();
        self.writer.stop().await;
        // From here on another may own the file.
        self.lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
