//! SQLite: one writer thread that commits in groups, and a pool of readers.
//!
//! A caller continues only after its commit is on disk: WAL with `synchronous=FULL`, asserted on
//! every connection. One process owns the file, by a lock file next to it. Only the statements in
//! this folder and in `shared` touch the database.

mod audit;
mod backup;
mod connection;
mod erased;
mod expired_keys;
mod fold;
mod interactions;
mod lock;
mod migrate;
mod place;
mod ranking;
mod readers;
mod recent_keys;
mod restore;
mod row;
mod rows;
mod schema;
mod seal;
pub(super) mod search;
mod shared;
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

use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::broadcast;
use tokio::time::timeout;

pub use backup::temporary_folder;
pub use connection::APPLICATION_ID;
pub use migrate::{
    Content, OpenError, backup_schedule, certificate_states, check_audit, check_rows, check_sqlite,
    content, examine, has_audit_row, notification_trouble, stored_settings,
};
pub use place::{Unfit, free_space, make_place};
pub use restore::{OpenKeyError, Restore, move_aside};
pub use seal::check_backup;
pub use transfer::SqliteEnd;

use super::deferred::Deferred;
use super::expected_taps::ExpectedTaps;
use super::shared::administration::ANY_WRAPPED_KEY;
use super::{
    BackupContent, BackupNote, CachedPart, Queue, READY, StorageError, StorageMetrics, Swept,
};
use crate::panics;
use crate::shared::tags::KeptCounts;
use crate::{Event, SharedEvent};
use domain::clock::{Clock, Millis, Timestamp};
use domain::entropy::Entropy;
use domain::keyring::BackupKey;
use domain::temporary_folder::TemporaryFolder;
use expired_keys::ExpiredKeys;
use fold::Slice;
use lock::Lock;
use ranking::Rankings;
use readers::Readers;
use recent_keys::RecentKeys;
use writer::{Write, Writer};

/// Events kept for a slow listener before it misses some.
const EVENT_BACKLOG: usize = 4096;

/// A database file that this process owns.
pub struct SqliteStorage {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    readers: Readers,
    writer: Writer,
    events: broadcast::Sender<SharedEvent>,
    pub(crate) deferred: Deferred,
    pub(crate) expected_taps: ExpectedTaps,
    rankings: Rankings,
    pub(crate) kept_counts: KeptCounts,
    /// The tag at which the next round of housekeeping starts to look for old visitors.
    sweep_position: Arc<sweep::Position>,
    /// Keys that are expired even if the clock goes back.
    expired_keys: Arc<ExpiredKeys>,
    /// Rolling keys of the latest taps, in memory.
    recent_keys: Arc<RecentKeys>,
    /// How far simulated time is ahead of the clock, in milliseconds.
    simulated_offset: AtomicI64,
    log: erased::Log,
    closed: AtomicBool,
    /// Released when the database is closed.
    lock: Mutex<Option<Lock>>,
}

impl SqliteStorage {
    /// Turns the trace notes in memory into rows.
    pub(crate) async fn store_notes(&self) -> Result<(), StorageError> {
        let moving = self.deferred.move_on().await;
        let reads = self.deferred.payload_reads.take();
        let refused = self.deferred.refused_updates.take();
        let rules = self.deferred.rules.take();
        let stored = self.write(move |write| {
            sweep::store_refused_updates(write, &refused)?;
            sweep::store_rules(write, &rules)?;
            sweep::store_payload_reads(write, &reads)
        });
        let stored = stored.await;
        drop(moving);
        stored
    }

    /// Opens the database at `path`. Creates it if it does not exist; if it is older than this
    /// program, copies and then migrates it.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        Self::open_folding(path, clock, entropy, fold::EVERY)
    }

    /// Like [`Self::open`], with another time for which tap counts may stay in memory. For tests:
    /// no caller can observe when counts are folded. With [`Duration::MAX`], only [`Self::fold`]
    /// and closing fold them.
    pub fn open_folding(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
        fold_every: Duration,
    ) -> Result<Self, OpenError> {
        let lock = Lock::take(path)?;
        let path = lock.database().to_owned();
        // A killed process may have left files of the database's size.
        backup::remove_temporary_folders(&path);
        restore::remove_draft(&path);
        let connection = match migrate::open(&path, clock.now(), entropy) {
            Err(OpenError::NotShared) => {
                lock.discard();
                return Err(OpenError::NotShared);
            }
            opened => opened?,
        };
        // A crash may have come between an erasure and the emptying of the log. A failure here must
        // not prevent the start: on a full disk, housekeeping empties the log later.
        if let Err(error) = connection::empty_log(&connection) {
            tracing::warn!("the log of the database is not emptied yet: {error}");
        }
        let simulated_offset = simulated_time::offset(&connection)?;
        let expired_keys = ExpiredKeys::at_start(&connection, clock.now(), simulated_offset)?;
        // No other process uses this database, so every unfinished import is abandoned.
        connection.execute("UPDATE imports SET touched_at = 0", [])?;
        // A backup that is served without a restore is no longer one, because its trailer will not
        // match it.
        connection.execute("DELETE FROM settings WHERE name = ?1", [backup::NOTE])?;
        // Nor is a delivery in flight: make those due whose result was not stored.
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
            deferred: Deferred::default(),
            expected_taps: ExpectedTaps::default(),
            rankings: Rankings::default(),
            kept_counts: KeptCounts::default(),
            sweep_position: Arc::default(),
            expired_keys: Arc::new(expired_keys),
            recent_keys,
            simulated_offset: AtomicI64::new(simulated_offset.get()),
            log: erased::Log::emptied(),
            closed: AtomicBool::new(false),
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Folds tap counts into `rows` rows, so that a test can stop between any two. Returns whether
    /// more are left.
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

    /// The path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads on the calling thread, because switching threads costs more than the short reads of a
    /// tap. Reads that may take long use [`Self::read_long`].
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

    /// Counts a read that panicked; the writer counts its own commands.
    fn counted<T>(&self, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
        outcome.inspect_err(|error| {
            if matches!(error, StorageError::Panicked) {
                self.writer.metrics().panicked();
            }
        })
    }

    /// Runs `op` on the writer and returns once its commit is on disk.
    ///
    /// `op` may run twice: if it, or another command of its group, fails, the group is rolled back
    /// and each command runs again in its own transaction.
    async fn write<T: Send + 'static>(
        &self,
        op: impl Fn(&mut Write<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.writer.run(op).await
    }
}

/// An empty database in memory, for tests of SQL.
#[cfg(test)]
pub(crate) fn in_memory() -> Connection {
    let mut connection = Connection::open_in_memory().expect("memory is there");
    migrate::run(migrate::ours(), &mut connection).expect("the schema is sound");
    connection
}

/// Any inlay's or master key in its stored form.
fn any_wrapped_key(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    let key = connection.query_row(ANY_WRAPPED_KEY, [], |row| row.get(0));
    key.optional()
}

/// The highest id that an interaction ever had; 0 if there was none. Interactions are removed by
/// their time, so that of the highest id may be gone; housekeeping then notes that id.
fn last_interaction(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT max(coalesce((SELECT max(id) FROM interactions), 0),
                    coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?1), 0))",
        [sweep::HIGHEST_REMOVED],
        |row| row.get(0),
    )
}

impl SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn now(&self) -> Result<Timestamp, StorageError> {
        Ok(self.clock.now())
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn advance(&self, span: Millis) -> Result<Option<Timestamp>, StorageError> {
        Ok(self.clock.try_advance(span))
    }

    pub(crate) fn simulated_offset(&self) -> Millis {
        Millis::new(self.simulated_offset.load(Ordering::Relaxed))
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn advance_simulated(&self, span: Millis) -> Result<Millis, StorageError> {
        let offset = self
            .write(move |write| simulated_time::advance(write.connection, span))
            .await?;
        // Takes effect only after it is on disk: no key may be dated later than a restart would
        // know.
        self.simulated_offset
            .fetch_max(offset.get(), Ordering::Relaxed);
        Ok(offset)
    }

    pub(crate) fn free_space(&self) -> Option<u64> {
        place::free_space(&self.path)
    }

    pub(crate) fn tell(&self, event: Event) {
        tell(&self.events, event);
    }

    /// Announces events without keeping the file open.
    pub(crate) fn teller(&self) -> Teller {
        Teller(self.events.clone())
    }

    /// The same as [`Self::tell`]: there is one node.
    pub(crate) fn tell_here(&self, event: Event) {
        self.tell(event);
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<SharedEvent> {
        self.events.subscribe()
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "both databases have this operation, and PostgreSQL may not know the epoch"
    )]
    pub(crate) fn configuration_epoch(&self) -> Option<u64> {
        Some(self.writer.epochs().newest())
    }

    pub(crate) fn changed_at(&self, part: CachedPart) -> u64 {
        self.writer.epochs().of(part)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn ready(&self) -> Result<(), StorageError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StorageError::Unavailable("it is being closed".to_owned()));
        }
        let probe = async {
            self.read_long(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?))
                .await?;
            // If another program locks the database, this write waits.
            self.write(|write| write.probe()).await
        };
        match timeout(READY, probe).await {
            Ok(Err(StorageError::Full)) => Ok(()),
            Ok(answer) => answer,
            Err(_) => Err(StorageError::Unavailable(
                "its writer does not answer, or another program locks it".to_owned(),
            )),
        }
    }

    pub(crate) fn metrics(&self) -> &StorageMetrics {
        self.writer.metrics()
    }

    pub(crate) fn queues(&self) -> Vec<Queue> {
        vec![self.writer.queue()]
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn check_writable(&self) -> Result<(), StorageError> {
        self.write(|write| {
            // A page that was touched is written, even if its content is the same.
            write.connection.execute_batch(
                "INSERT INTO settings (name, value) VALUES ('writable', '');
                 DELETE FROM settings WHERE name = 'writable'",
            )?;
            Ok(())
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        let unfolded = move |write: &mut Write<'_>| sweep::removes_unfolded(write, keep_since);
        if self.write(unfolded).await? {
            self.writer.settle().await?;
        }
        let (keys, now) = (Arc::clone(&self.expired_keys), self.clock.now());
        let expiry = self.read_long(move |connection| keys.look(connection, now));
        let expiry = expiry.await?;
        let keys = Arc::clone(&self.expired_keys);
        let position = Arc::clone(&self.sweep_position);
        let moving = self.deferred.move_on().await;
        let reads = self.deferred.payload_reads.take();
        let refused = self.deferred.refused_updates.take();
        let rules = self.deferred.rules.take();
        let swept = self.write(move |write| {
            sweep::store_refused_updates(write, &refused)?;
            sweep::store_rules(write, &rules)?;
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

    pub(crate) async fn forget_replaced(&self) -> Result<(), StorageError> {
        let path = self.path.clone();
        let compacted = tokio::task::spawn_blocking(move || connection::compact(&path));
        let compacted = compacted.await;
        compacted.map_err(|error| StorageError::Failed(error.to_string()))?
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn forget_erased(&self) {
        self.empty_log_now().await;
    }

    pub(crate) async fn forget_deleted(&self) -> Result<(), StorageError> {
        self.empty_log_if_due().await
    }

    pub(crate) async fn backup(
        &self,
        note: BackupNote,
        key: Option<BackupKey>,
    ) -> Result<File, StorageError> {
        // A copy is exact at any moment. After settling, starting from this one need not replay any
        // taps.
        self.writer.settle().await?;
        let path = self.path().to_owned();
        self.read_long(move |connection| backup::copy(connection, &path, &note, key.as_ref()))
            .await
    }

    pub(crate) fn temporary_folder(&self) -> Result<TemporaryFolder, StorageError> {
        backup::temporary_folder(&self.path)
    }

    pub(crate) async fn check_backup(&self, file: &Path) -> Result<BackupContent, String> {
        let (file, now) = (file.to_owned(), self.clock.now());
        let checked = tokio::task::spawn_blocking(move || restore::rehearse(&file, now));
        match checked.await {
            Ok(checked) => checked.map_err(|error| error.to_string()),
            Err(error) => Err(format!("The check was ended: {error}.")),
        }
    }

    pub(crate) async fn close(&self) {
        // The notes only serve traces, so a failure here loses nothing else.
        let _ = self.store_notes().await;
        self.writer.settle_at_end().await;
        self.closed.store(true, Ordering::Release);
        let readers = self.readers.clone();
        let _ = tokio::task::spawn_blocking(move || readers.close()).await;
        self.writer.stop().await;
        // After this, another process may own the file.
        self.lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

/// Announces events, also when the file was closed meanwhile.
pub(crate) struct Teller(broadcast::Sender<SharedEvent>);

impl Teller {
    pub(crate) fn tell(&self, event: Event) {
        tell(&self.0, event);
    }
}

fn tell(events: &broadcast::Sender<SharedEvent>, event: Event) {
    // Payload reads tell an event each: without a listener, they pay nothing for it.
    if events.receiver_count() > 0 {
        let _ = events.send(event.into());
    }
}
