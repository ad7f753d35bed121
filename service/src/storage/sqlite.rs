//! SQLite: one writer thread that commits in groups, and a pool of readers.
//!
//! A commit is on disk before its caller goes on: WAL with `synchronous=FULL`,
//! asserted on every connection. One process owns the file (a lock beside it).
//! No other statement than the ones in this folder touches the database.

mod administration;
mod backup;
mod connection;
mod experiences;
mod images;
mod inlays;
mod interactions;
mod lock;
mod master_keys;
mod migrate;
mod readers;
mod restore;
mod row;
mod search;
mod sheets;
mod sweep;
mod tags;
mod taps;
mod transfer;
mod virtual_inlays;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::broadcast;

pub use connection::APPLICATION_ID;
pub use migrate::{OpenError, check_sqlite, examine};
pub use restore::{Restore, move_aside};
pub use transfer::SqliteEnd;

use super::payload_reads::PayloadReads;
use super::{Storage, StorageError};
use crate::clock::{Clock, Timestamp};
use crate::entropy::Entropy;
use crate::event::Event;
use lock::Lock;
use readers::Readers;
use writer::{Write, Writer};

/// Events kept for a slow listener before it misses some.
const EVENT_BACKLOG: usize = 4096;

/// A database file that this process owns.
pub struct SqliteStorage {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    readers: Readers,
    writer: Writer,
    events: broadcast::Sender<Event>,
    next_interaction: AtomicI64,
    payload_reads: PayloadReads,
    /// The tag from which the next round of housekeeping looks for old visitors.
    sweep_position: Arc<AtomicI64>,
    /// Simulated time is ahead of the clock by this, in milliseconds.
    simulated_offset: AtomicI64,
    closed: AtomicBool,
    /// Given back when the database is closed.
    lock: Mutex<Option<Lock>>,
}

impl SqliteStorage {
    /// Opens the database at `path`, creating it where no file is; migrates it,
    /// after a backup, where it is older than this program.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        let lock = Lock::take(path)?;
        let connection = migrate::open(path, clock.now(), entropy)?;
        expire_keys_of_a_later_clock(&connection, clock.now())?;
        tags::abandon_all(&connection)?;
        let next_interaction = AtomicI64::new(last_interaction(&connection)? + 1);
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        Ok(Self {
            path: path.to_owned(),
            readers: Readers::new(path),
            writer: Writer::start(connection, Arc::clone(&clock), events.clone()),
            clock,
            events,
            next_interaction,
            payload_reads: PayloadReads::default(),
            sweep_position: Arc::new(AtomicI64::new(1)),
            simulated_offset: AtomicI64::new(0),
            closed: AtomicBool::new(false),
            lock: Mutex::new(Some(lock)),
        })
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
        self.readers.with(op)
    }

    /// Reads on a thread that may block.
    async fn read_long<T: Send + 'static>(
        &self,
        op: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let readers = self.readers.clone();
        tokio::task::spawn_blocking(move || readers.with(op))
            .await
            .map_err(|error| StorageError::Failed(error.to_string()))?
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

/// The highest id that an interaction ever had; 0 for none. Where all were
/// removed since, visits still know it.
fn last_interaction(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT coalesce((SELECT max(id) FROM interactions), (SELECT max(last_interaction) FROM visits), 0)",
        [],
        |row| row.get(0),
    )
}

/// Where the wall clock is behind the newest interaction, nobody can tell how
/// old a key is. Keys are removed then, so that none comes back to life when
/// the clock gets there again. Simulated time runs ahead and proves nothing
/// about other keys; what it issued in the future goes, too.
fn expire_keys_of_a_later_clock(
    connection: &Connection,
    now: Timestamp,
) -> Result<(), rusqlite::Error> {
    use rusqlite::OptionalExtension as _;
    let newest = connection
        .query_row(
            "SELECT at FROM interactions WHERE EXISTS (SELECT 1 FROM rolling_keys) AND NOT simulated
             ORDER BY id DESC LIMIT 1",
            [],
            |row| row.get(0).map(Timestamp::from_millis),
        )
        .optional()?;
    let behind = newest.filter(|newest| *newest > now);
    if let Some(newest) = behind {
        tracing::warn!(
            "the clock ({now}) is behind the newest interaction ({newest}): \
             rolling keys issued before this start count as expired"
        );
    }
    connection.execute(
        "DELETE FROM rolling_keys WHERE ?1 OR issued_at > ?2",
        (behind.is_some(), now.millis()),
    )?;
    Ok(())
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn now(&self) -> Result<Timestamp, StorageError> {
        Ok(self.clock.now())
    }

    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError> {
        Ok(self.clock.try_advance(millis))
    }

    fn simulated_offset(&self) -> i64 {
        self.simulated_offset.load(Ordering::Relaxed)
    }

    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError> {
        let millis = i64::from(millis);
        let before = self.simulated_offset.fetch_add(millis, Ordering::Relaxed);
        Ok(before + millis)
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn configuration_epoch(&self) -> Option<u64> {
        Some(self.writer.configuration_epoch())
    }

    async fn ready(&self) -> Result<(), StorageError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StorageError::Unavailable("it is being closed".to_owned()));
        }
        self.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?))
    }

    async fn sweep(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        let reads = self.payload_reads.take();
        let position = Arc::clone(&self.sweep_position);
        self.write(move |write| sweep::run(write, keep_since, &reads, &position))
            .await
    }

    async fn close(&self) {
        let reads = self.payload_reads.take();
        // Reads of payloads are for the trace alone; a failure here loses nothing else.
        let _ = self
            .write(move |write| sweep::store_payload_reads(write, &reads))
            .await;
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
