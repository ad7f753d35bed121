//! The operations that the service needs from a database, in domain terms.
//!
//! Every method is one atomic operation: races are decided inside it, and no caller checks with one
//! call and acts with another. A method that writes returns after its commit is on disk. A missing
//! row is `Ok(None)`. Each backend keeps its own time, and that time decides about keys.
//!
//! | Modules | Subject |
//! |---|---|
//! | `taps`, `tags`, `inlays` and other nouns | the operations on each noun, as a trait |
//! | [`sqlite`], `postgres` | the backends; each has its own implementation of the path of a tap |
//! | `shared` | rules and SQL of configured data, for both databases; a backend only runs them |
//! | `deferred` | details of a tap: noted in memory, stored with a later commit |
//! | `erasure` | the SQL that erases a tag's visitors |
//! | [`catalogue`] | all tables and columns: whether they are moved, erased, or wrapped |
//! | [`transfer`], `migrate_store` | moves a whole database from one backend to the other |
//! | [`calling`] | the caller for whom the current task works |

mod administration;
mod audit;
mod backups;
pub mod calling;
pub mod catalogue;
mod conflict;
mod deferred;
mod encoding_runs;
mod encodings;
mod erasure;
mod event;
mod expected_taps;
mod experiences;
mod factory_orders;
mod imports;
mod inlays;
mod interactions;
mod key_rotation;
mod metrics;
#[cfg(feature = "postgres")]
pub mod migrate_store;
pub mod panics;
mod reports;
pub mod search;
mod shared;
mod sheets;
mod submissions;
mod tags;
mod taps;
mod url_templates;
mod value;
mod visitors;
mod webhooks;

#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
pub mod transfer;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast;

// Many methods here take a precondition: the version of a resource that an edit expects.
pub use administration::{Administration, BackupNote, Examination, Secrets, SettingsEdit};
pub use audit::{Audit, AuditFilter};
pub use backups::{
    BackupContent, BackupResult, BackupSchedule, BackupSeal, Backups, ScheduleEdit,
    SealedForBackups,
};
pub use conflict::{Conflict, InUse, Invalid};
pub use domain::revision::Precondition;
pub use encoding_runs::{EncodingRuns, KeptPlace, RunEdit, RunPlace, RunTag};
pub use encodings::{
    ChipState, EncodingFilter, EncodingTurn, Encodings, Ending, ExposedInlay, SealedRoot,
    StoredEncoding, StoredGeneration, StoredJournal,
};
pub use event::{Event, Subject, Told};
pub use experiences::{ExperienceEdit, ExperienceFilter, Experiences};
pub use factory_orders::{CameBack, FactoryOrders, NewOrder, Taken, WrappedSet};
pub use imports::{Imports, LEFT_AFTER_MILLIS, ROWS_AT_ONCE, Staged, finish as finish_import};
pub use inlays::{
    CarriedTagUrl, InlayEdit, InlayFilter, Inlays, MasterKeys, OtherInlays, SimulatedTag, Simulator,
};
pub use interactions::{
    InteractionFilter, Interactions, LOOKED_AT_MAX, Overview, SAMPLE_MAX, Stretch,
};
pub use key_rotation::{KeyRotation, KeyRotations, Rewrap, Rewrapped, SecretsDone, SecretsPlace};
pub use metrics::{Queue, StorageMetrics};
pub use reports::Reports;
pub use sheets::{SheetEdit, Sheets};
pub use submissions::{SubmissionFilter, Submissions};
pub use tags::{
    COUNTING, ChangedTag, Estimate, FormVariables, ImportRow, Imported, MissingVariables, Put,
    TagChange, TagEdit, TagFilter, TagList, TagOrder, TagPlace, TagSelect, Tags,
};
pub use taps::{
    BoundInlay, TagInlays, TagKey, TagTap, Taps, TemplateInlay, UpdateRefusal, Updated,
    VariableUpdate,
};
pub use url_templates::{UrlTemplateEdit, UrlTemplates};
pub use visitors::{Entered, FoundUpdates, UpdateFilter, Visitors};
pub(crate) use webhooks::TapStream;
pub use webhooks::{
    Advance, Backlog, Claimed, CommitPosition, Cursor, DOWN, EventProperties, Finished,
    LEASE_MILLIS, Move, NewDelivery, Resend, RouteFields, RouteState, SOON_MILLIS, Settled,
    WebhookEdit, Webhooks,
};

use crate::panics::Panicked;
use domain::clock::Timestamp;
use domain::id::{ExperienceId, TagId};
use domain::keyring::BackupKey;
use domain::revision::Changed;

/// How long a database may take to report that it is ready: a load balancer must notice within two
/// seconds that it is not. A step of housekeeping takes less.
const READY: Duration = Duration::from_millis(1_500);

/// The row of `settings` that stores how far simulated time is ahead, in milliseconds.
const SIMULATED_AHEAD: &str = "simulated_ahead";

/// The place of all data.
pub enum Database {
    /// A SQLite file; it is created if it is missing.
    Sqlite(PathBuf),
    /// A PostgreSQL database, shared with other nodes; an empty one is initialised.
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Address>),
}

/// A database: all operations, grouped by noun.
#[async_trait]
pub trait Storage:
    Taps
    + Tags
    + Imports
    + Experiences
    + Inlays
    + MasterKeys
    + UrlTemplates
    + Simulator
    + Interactions
    + Visitors
    + EncodingRuns
    + FactoryOrders
    + Sheets
    + Submissions
    + Reports
    + Webhooks
    + Encodings
    + Administration
    + Backups
    + KeyRotations
    + Audit
{
    /// The database's current time: the time by which it decides about keys.
    async fn now(&self) -> Result<Timestamp, StorageError>;

    /// Moves the database's time ahead by `millis`, and returns the new time. `None` if it cannot
    /// be moved, as always outside test mode.
    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError>;

    /// How far simulated time is ahead, in milliseconds. It only grows, and survives a restart.
    fn simulated_offset(&self) -> i64;

    /// Moves simulated time ahead by `millis`, and returns the new offset in milliseconds.
    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError>;

    /// Free space on the database's disk, in bytes; `None` if this machine cannot know it.
    fn free_space(&self) -> Option<u64> {
        None
    }

    /// Sends an event to the listeners on this node.
    fn tell(&self, event: Event);

    /// Subscribes to all events. Each is sent after its commit.
    fn events(&self) -> broadcast::Receiver<Told>;

    /// Grows with every change of the configuration, before the change is acknowledged. Data read
    /// under an older epoch may be stale. `None` if the epoch is unknown at the moment: then every
    /// cached value may be stale.
    fn configuration_epoch(&self) -> Option<u64>;

    /// The epoch of the last change of one part of the configuration: data of this part that was
    /// read under this epoch, or a later one, is current. `None` if it is unknown at the moment.
    ///
    /// A database that does not know which part a change touched reports every part as changed.
    fn changed_at(&self, _part: CachedPart) -> Option<u64> {
        self.configuration_epoch()
    }

    /// Whether the database answers and accepts writes; it asks the component that writes the taps.
    /// Answers within two seconds, even while another program locks a table. A full disk does not
    /// make it unready: reads, and redirects without a key, still work.
    async fn ready(&self) -> Result<(), StorageError>;

    /// Whether the database accepts writes: commits a write that leaves no data behind.
    async fn check_writable(&self) -> Result<(), StorageError>;

    /// The database's measurements of its own work.
    fn metrics(&self) -> &StorageMetrics;

    /// Writes that currently wait for their commit.
    fn queues(&self) -> Vec<Queue>;

    /// One round of housekeeping. Deletes expired keys, visitors after 30 days, and interactions
    /// older than `keep_since` by their own time, with the rows that belong to them; interactions
    /// may stay up to eight days longer.
    async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError>;

    /// A copy of the whole database as of one moment, in an unnamed file that disappears when it is
    /// closed. It holds no live rolling key; counters, secrets and the hashes of admin tokens are
    /// those of that moment. It ends with a checksum. If it contains the wrapping key, `key` is the
    /// backup key of that wrapping key, and seals it.
    async fn backup(
        &self,
        note: BackupNote,
        key: Option<BackupKey>,
    ) -> Result<std::fs::File, StorageError>;

    /// Whether this database supports [`Self::backup`].
    fn makes_backups(&self) -> bool;

    /// Restores a backup next to its file, without replacing a database, and returns its content.
    /// Nothing of the restored copy stays. An `Err` is a sentence that says why the backup is bad.
    async fn check_backup(&self, file: &std::path::Path) -> Result<BackupContent, String>;

    /// Rewrites the database's file without deleted or replaced data, because free space in its
    /// files still contains the old bytes. A database that reuses free space by itself does nothing
    /// here.
    async fn forget_replaced(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Returns once no file of the database contains data that was erased before the call. It gives
    /// up after some seconds if a reader holds the old data that long, or if the disk fails; then
    /// [`Self::forget_deleted`] does it later. A database without such files does nothing here.
    async fn forget_erased(&self) {}

    /// The same for data that was deleted or replaced some minutes ago, and for erasures that
    /// [`Self::forget_erased`] could not complete. Housekeeping calls it in each round.
    async fn forget_deleted(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Commits the accepted writes, and closes the database. Later operations fail.
    async fn close(&self);
}

/// A part of the configuration that is cached separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedPart {
    /// A tag with its inlays, as [`Taps::tag_tap`] returns it.
    Tag(TagId),
    /// The published version of an experience.
    Experience(ExperienceId),
    /// All URL templates together.
    UrlTemplates,
}

/// The result of a round of housekeeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Old interactions that were removed. Those of a week that is dropped at once, as on
    /// PostgreSQL, are not counted.
    pub interactions: u64,
    /// Old visitors that were removed.
    pub visits: u64,
    /// Whether more rows are left to remove.
    pub more: bool,
}

/// Why a database operation failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StorageError {
    /// The write would break a rule of the data; nothing was written.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The disk is full; nothing was written.
    #[error("The disk is full.")]
    Full,
    /// The database does not answer, or is being closed.
    #[error("The database is not available: {0}")]
    Unavailable(String),
    /// This kind of database does not support the operation. The text is a sentence for people,
    /// with the way out.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The operation panicked, and nothing was written.
    #[error("The operation panicked.")]
    Panicked,
    /// Anything else. The text is for logs, not for clients.
    #[error("The database failed: {0}")]
    Failed(String),
}

impl From<InUse> for StorageError {
    fn from(why: InUse) -> Self {
        Conflict::from(why).into()
    }
}

impl From<Invalid> for StorageError {
    fn from(why: Invalid) -> Self {
        Conflict::from(why).into()
    }
}

impl From<Changed> for StorageError {
    fn from(changed: Changed) -> Self {
        Conflict::from(changed).into()
    }
}

impl From<Panicked> for StorageError {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}
