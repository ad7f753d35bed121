//! The operations on a database as a whole: its time, its events, its upkeep.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::broadcast;

use super::{Access, each, each_awaited};
use crate::metrics::{Queue, StorageMetrics};
use crate::shared::tags::Ranking;
use crate::{
    BackupContent, BackupNote, CachedPart, Event, SharedEvent, Storage, StorageError, Swept,
};
use domain::clock::{Millis, Timestamp};
use domain::id::InteractionId;
use domain::keyring::BackupKey;
use domain::resource_kind::ResourceKind;
use domain::temporary_folder::TemporaryFolder;

/// The operations on the database as a whole.
impl Access {
    /// The database's current time: the time by which it decides about keys.
    pub async fn now(&self) -> Result<Timestamp, StorageError> {
        each_awaited!(self, db => db.now())
    }

    /// Moves the database's time ahead by `span`, and returns the new time. `None` if it cannot
    /// be moved, as always outside test mode.
    pub async fn advance(&self, span: Millis) -> Result<Option<Timestamp>, StorageError> {
        each!(self, db => db.advance(span).await)
    }

    /// How far simulated time is ahead. It only grows, and survives a restart.
    pub fn simulated_offset(&self) -> Millis {
        each!(self, db => db.simulated_offset())
    }

    /// Moves simulated time ahead by `span`, and returns the new offset.
    pub async fn advance_simulated(&self, span: Millis) -> Result<Millis, StorageError> {
        each!(self, db => db.advance_simulated(span).await)
    }

    /// Free space on the database's disk, in bytes; `None` if this machine cannot know it.
    pub fn free_space(&self) -> Option<u64> {
        match &self.storage {
            Storage::Sqlite(database) => database.free_space(),
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => None,
        }
    }

    /// Sends an event to the listeners on this node, and on others.
    pub fn tell(&self, event: Event) {
        each!(self, db => db.tell(event));
    }

    /// Announces a change that the service made by itself. The change of a caller is announced at
    /// the end of the request.
    pub(crate) fn tell_changed(&self, kind: ResourceKind, id: Option<i64>) {
        if self.caller().is_none() {
            self.tell(Event::Changed { kind, id });
        }
    }

    /// Announces a new note of an interaction's trace to the listeners on this node. Other nodes
    /// see the note once it is a row.
    pub(crate) fn tell_noted(&self, id: InteractionId) {
        let event = Event::Changed {
            kind: ResourceKind::Interactions,
            id: Some(id.get()),
        };
        each!(self, db => db.tell_here(event));
    }

    /// Subscribes to all events. Each is sent after its commit.
    pub fn events(&self) -> broadcast::Receiver<SharedEvent> {
        each!(self, db => db.events())
    }

    /// Grows with every change of the configuration, before the change is acknowledged. Data read
    /// under an older epoch may be stale. `None` if the epoch is unknown at the moment: then every
    /// cached value may be stale.
    pub fn configuration_epoch(&self) -> Option<u64> {
        each!(self, db => db.configuration_epoch())
    }

    /// Whether data that was read under `epoch` is current: this part of the configuration did not
    /// change since.
    ///
    /// A node on PostgreSQL that missed another node's message takes every part for changed.
    pub fn is_current(&self, part: CachedPart, epoch: u64) -> bool {
        let changed = match &self.storage {
            Storage::Sqlite(database) => Some(database.changed_at(part)),
            #[cfg(feature = "postgres")]
            Storage::Postgres(database) => database.changed_at(part),
        };
        changed.is_some_and(|changed| changed <= epoch)
    }

    /// Whether the database answers and accepts writes; it asks the component that writes the taps.
    /// Answers within two seconds, even while another program locks a table. A full disk does not
    /// make it unready: reads, and redirects without a key, still work.
    pub async fn ready(&self) -> Result<(), StorageError> {
        each!(self, db => db.ready().await)
    }

    /// Whether the database accepts writes: commits a write that leaves no data behind.
    pub async fn check_writable(&self) -> Result<(), StorageError> {
        each!(self, db => db.check_writable().await)
    }

    /// The database's measurements of its own work.
    pub fn metrics(&self) -> &StorageMetrics {
        self.storage.metrics()
    }

    /// Writes that currently wait for their commit.
    pub fn queues(&self) -> Vec<Queue> {
        each!(self, db => db.queues())
    }

    /// One round of housekeeping. Deletes expired keys, visitors after 30 days, and interactions
    /// older than `keep_since` by their own time, with the rows that belong to them; interactions
    /// may stay up to eight days longer.
    pub async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        each!(self, db => db.sweep(keep_since).await)
    }

    /// A copy of the whole database as of one moment, in an unnamed file that disappears when it is
    /// closed. It holds no live rolling key; counters, secrets and the hashes of admin tokens are
    /// those of that moment. It ends with a checksum. If it contains the wrapping key, `key` is the
    /// backup key of that wrapping key, and seals it.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unsupported`] if not [`Self::makes_backups`].
    pub async fn backup(
        &self,
        note: BackupNote,
        key: Option<BackupKey>,
    ) -> Result<File, StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.backup(note, key).await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Err(StorageError::Unsupported(
                "This service keeps its data in PostgreSQL, which has tools of its own for backups: \
                 pg_dump copies the database, pg_basebackup and the archived log the whole server. \
                 Keep the file inlay.key beside the copy.",
            )),
        }
    }

    /// Whether this database supports [`Self::backup`].
    pub fn makes_backups(&self) -> bool {
        matches!(self.storage, Storage::Sqlite(_))
    }

    /// A folder next to the database, for files of its size. Dropping the value removes it.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unsupported`] if not [`Self::makes_backups`].
    pub fn temporary_folder(&self) -> Result<TemporaryFolder, StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.temporary_folder(),
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Err(StorageError::Unsupported(
                "This service keeps its data in PostgreSQL, which has no folder here.",
            )),
        }
    }

    /// Restores a backup next to its file, without replacing a database, and returns its content.
    /// Nothing of the restored copy stays. An `Err` is a sentence that says why the backup is bad.
    pub async fn check_backup(&self, file: &Path) -> Result<BackupContent, String> {
        match &self.storage {
            Storage::Sqlite(database) => database.check_backup(file).await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => {
                Err("A backup of this kind is of a SQLite database.".to_owned())
            }
        }
    }

    /// Rewrites the database's file without deleted or replaced data, because free space in its
    /// files still contains the old bytes. A database that reuses free space by itself does nothing
    /// here.
    pub async fn forget_replaced(&self) -> Result<(), StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.forget_replaced().await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Ok(()),
        }
    }

    /// Returns once no file of the database contains data that was erased before the call. It gives
    /// up after some seconds if a reader holds the old data that long, or if the disk fails; then
    /// [`Self::forget_deleted`] does it later. A database without such files does nothing here.
    pub async fn forget_erased(&self) {
        match &self.storage {
            Storage::Sqlite(database) => database.forget_erased().await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => {}
        }
    }

    /// The same for data that was deleted or replaced some minutes ago, and for erasures that
    /// [`Self::forget_erased`] could not complete. Housekeeping calls it in each round.
    pub async fn forget_deleted(&self) -> Result<(), StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.forget_deleted().await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Ok(()),
        }
    }

    /// Writes the tap counts that are not in their tables yet, if they are few, so that a list can
    /// be in the newest order.
    pub(crate) async fn settle_few(&self) {
        match &self.storage {
            Storage::Sqlite(database) => database.settle_few().await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => {}
        }
    }

    /// Turns the trace notes in memory into rows, so that erasing finds them.
    pub(crate) async fn settle_notes(&self) -> Result<(), StorageError> {
        each!(self, db => db.store_notes().await)
    }

    /// Tags ordered by their taps, at most 30 s old; `None` if the database itself orders them fast
    /// enough.
    pub(crate) async fn ranking(&self) -> Result<Option<Arc<Ranking>>, StorageError> {
        match &self.storage {
            Storage::Sqlite(database) => database.rank().await,
            #[cfg(feature = "postgres")]
            Storage::Postgres(_) => Ok(None),
        }
    }
}
