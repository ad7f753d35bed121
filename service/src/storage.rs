//! What the service needs of a database, in the words of the domain.
//!
//! Every method is one atomic operation: what can race is decided inside it,
//! and nothing is checked by one call and acted on by another. A method that
//! writes returns after its commit is on disk. A missing row is `Ok(None)`.
//! Backends keep their own time: it is theirs that decides about keys.
//!
//! What owners set up is implemented once for both databases, in `plane`. A database runs
//! those operations, and has the path of a tap to itself.

mod administration;
mod audit;
mod backups;
mod conflict;
mod encoding_runs;
mod encodings;
mod event;
mod experiences;
mod factory_orders;
mod imports;
mod inlays;
mod interactions;
mod key_rotation;
mod metrics;
mod notes;
mod payload_reads;
mod plane;
mod refused_updates;
mod reports;
mod search;
mod sheets;
mod submissions;
mod tags;
mod taps;
mod traces;
mod url_templates;
mod value;
mod visitors;
mod webhooks;

#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
pub mod transfer;

use async_trait::async_trait;
use tokio::sync::broadcast;

// What an edit expects of a resource: an argument of many methods here.
pub use crate::revision::Precondition;
pub use administration::{Administration, BackupNote, Examination, Secrets, SettingsEdit};
pub use audit::{Audit, AuditFilter};
pub use backups::{
    BackupContent, BackupResult, BackupSchedule, Backups, ScheduleEdit, SealedForBackups,
};
pub use conflict::{Conflict, InUse, Invalid};
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
    InlayEdit, InlayFilter, Inlays, MasterKeys, OtherInlays, SimulatedTag, Simulator,
};
pub use interactions::{
    InteractionFilter, Interactions, LOOKED_AT_MAX, Overview, SAMPLE_MAX, Stretch,
};
pub use key_rotation::{KeyRotation, KeyRotations, Rewrap, Rewrapped, SecretsDone, SecretsPlace};
pub use metrics::{Queue, StorageMetrics};
pub use reports::Reports;
pub use sheets::{SheetEdit, Sheets};
pub use submissions::{ErasedSubmissions, SubmissionFilter, Submissions};
pub use tags::{
    COUNTING, Estimate, ImportRow, Imported, MissingVariables, Put, TagChange, TagEdit, TagFilter,
    TagList, TagOrder, TagPlace, TagSelect, Tags,
};
pub use taps::{
    BoundInlay, TagInlays, TagKey, TagTap, Taps, TemplateInlay, UpdateRefusal, Updated,
    VariableUpdate,
};
pub use url_templates::{UrlTemplateEdit, UrlTemplates};
pub use visitors::Visitors;
pub(crate) use webhooks::TapStream;
pub use webhooks::{
    Advance, Backlog, Claimed, Cursor, DOWN, EventProperties, Finished, LEASE_MILLIS, Move,
    NewDelivery, Place, Resend, RouteFields, RouteState, SOON_MILLIS, Settled, WebhookEdit,
    Webhooks,
};

use crate::clock::Timestamp;
use crate::id::{ExperienceId, TagId};
use crate::panics::Panicked;
use crate::revision::Changed;

/// The row of `settings` that says by how much simulated time is ahead.
const SIMULATED_AHEAD: &str = "simulated_ahead";

/// A database: all operations, by noun.
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
    /// The time that decides.
    async fn now(&self) -> Result<Timestamp, StorageError>;

    /// Moves the time that decides ahead, and answers the moment it tells then.
    /// `None` if it cannot be moved, as everywhere outside test mode.
    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError>;

    /// By how much simulated time is ahead, in milliseconds. It only grows, and
    /// survives a restart.
    fn simulated_offset(&self) -> i64;

    /// Moves simulated time ahead by `millis`; answers the new offset.
    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError>;

    /// Room on the disk of the database, in bytes; `None` if this machine cannot know it.
    fn free_space(&self) -> Option<u64> {
        None
    }

    /// Tells those who listen on this node.
    fn tell(&self, event: Event);

    /// Everything that happens, after its commit.
    fn events(&self) -> broadcast::Receiver<Told>;

    /// Grows with every change of configuration, before the change is
    /// acknowledged. What was read under an older epoch may be stale. `None`
    /// if it is not known at the moment: anything kept may be stale then.
    fn configuration_epoch(&self) -> Option<u64>;

    /// The epoch since which a part of the configuration is as it is: what was read of it
    /// under this epoch, or a later one, holds. `None` where it is not known at the moment.
    ///
    /// A database that does not know what a change was of says that it was of every part.
    fn changed_at(&self, _part: Part) -> Option<u64> {
        self.configuration_epoch()
    }

    /// Whether the database answers and takes writes, asked of what writes the
    /// taps. A full disk is no reason not to: reads and redirects without a key go on.
    async fn ready(&self) -> Result<(), StorageError>;

    /// Whether the database takes writes: commits one that leaves nothing behind.
    async fn check_writable(&self) -> Result<(), StorageError>;

    /// What this database measures of its own work.
    fn metrics(&self) -> &StorageMetrics;

    /// What waits for its commit at this moment.
    fn queues(&self) -> Vec<Queue>;

    /// One round of housekeeping: expired keys, visitors after 30 days,
    /// interactions of before `keep_since` by their own time, though these may stay
    /// eight days longer, with what is told of them.
    async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError>;

    /// A copy of the whole database as of one moment, in a file without a name
    /// that is gone once it is closed. It holds no live rolling key; counters,
    /// secrets and the hashes of admin tokens are those of the moment.
    async fn backup(&self, note: BackupNote) -> Result<std::fs::File, StorageError>;

    /// Whether [`Self::backup`] can be had of this database.
    fn makes_backups(&self) -> bool;

    /// Restores a backup beside where it lies, as far as it can be without taking a database's place:
    /// what it has then, or in words what is wrong with it. Nothing of it stays.
    async fn check_backup(&self, file: &std::path::Path) -> Result<BackupContent, String>;

    /// Writes the database's file again, without what was deleted or replaced: free room in its files still
    /// has the bytes of before. A database that reuses such room by itself does nothing here.
    async fn forget_replaced(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Commits what was accepted, and closes. Operations after it fail.
    async fn close(&self);
}

/// A part of the configuration that a cache holds by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A tag with its inlays: what [`Taps::tag_tap`] answers.
    Tag(TagId),
    /// The published version of an experience.
    Experience(ExperienceId),
    /// The URL templates.
    UrlTemplates,
}

/// What a round of housekeeping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Old interactions that it removed. Those of a week that goes at once, as on
    /// PostgreSQL, are not counted.
    pub interactions: u64,
    /// Old visitors that it forgot.
    pub visits: u64,
    /// Whether more is left to do.
    pub more: bool,
}

/// What a database can refuse or fail with.
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
    /// This kind of database does not support the operation. A sentence for
    /// people, with the way out.
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
