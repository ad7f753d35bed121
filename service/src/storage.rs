//! What the service needs of a database, in the words of the domain.
//!
//! Every method is one atomic operation: what can race is decided inside it,
//! and nothing is checked by one call and acted on by another. A method that
//! writes returns after its commit is on disk. A missing row is `Ok(None)`.
//! Backends keep their own time: it is theirs that decides about keys.

mod administration;
mod experiences;
mod imports;
mod inlays;
mod interactions;
mod metrics;
mod payload_reads;
mod refused_updates;
mod sheets;
mod tags;
mod taps;

pub mod postgres;
pub mod sqlite;
pub mod transfer;

use async_trait::async_trait;
use tokio::sync::broadcast;

pub use administration::{Administration, BackupNote, Examination, Secrets, SettingsEdit};
pub use experiences::{ExperienceEdit, ExperienceFilter, Experiences};
pub use imports::{Imports, LEFT_AFTER_MILLIS, ROWS_AT_ONCE, Staged, finish as finish_import};
pub use inlays::{
    InlayEdit, InlayFilter, Inlays, MasterKeys, OtherInlays, SimulatedTag, Simulator,
};
pub use interactions::{
    InteractionFilter, Interactions, LOOKED_AT_MAX, Overview, SAMPLE_MAX, Stretch,
};
pub use metrics::{Queue, StorageMetrics};
pub use sheets::{SheetEdit, Sheets};
pub use tags::{
    ImportRow, Imported, MissingVariables, Put, TagChange, TagEdit, TagFilter, TagList, TagOrder,
    TagPlace, TagSelect, Tags,
};
pub use taps::{
    BoundInlay, PublishedExperience, TagKey, TagTap, Taps, UpdateRefusal, Updated, VariableUpdate,
    WrappedKeys,
};

use crate::clock::Timestamp;
use crate::event::Told;
use crate::id::TagId;
use crate::inlay::virtual_inlay::UsedUp;
use crate::revision::Changed;
use crate::settings::InvalidSetting;

/// Most former slugs of a tag. Each is reserved for good and listed with its tag wherever tags
/// are; a tag that is encoded or printed anew has two or three in its life, and a program that
/// renames tags every day must not fill the database.
const FORMER_SLUGS_MAX: u64 = 100;

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
    + Simulator
    + Interactions
    + Sheets
    + Administration
{
    /// The time that decides.
    async fn now(&self) -> Result<Timestamp, StorageError>;

    /// Moves the time that decides ahead, and answers the moment it tells then.
    /// `None` where it cannot be moved, as everywhere outside test mode.
    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError>;

    /// By how much simulated time is ahead, in milliseconds. It only grows, and
    /// survives a restart.
    fn simulated_offset(&self) -> i64;

    /// Moves simulated time ahead by `millis`; answers the new offset.
    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError>;

    /// Everything that happens, after its commit.
    fn events(&self) -> broadcast::Receiver<Told>;

    /// Grows with every change of configuration, before the change is
    /// acknowledged. What was read under an older epoch may be stale. `None`
    /// where it is not known at the moment: anything kept may be stale then.
    fn configuration_epoch(&self) -> Option<u64>;

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

    /// Commits what was accepted, and closes. Operations after it fail.
    async fn close(&self);
}

/// What a round of housekeeping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Expired rolling keys that it removed.
    pub rolling_keys: u64,
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
    /// What is asked for is done elsewhere with this kind of database. A
    /// sentence for people.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// The operation panicked, and nothing was written.
    #[error("The operation panicked.")]
    Panicked,
    /// Anything else. The text is for logs, not for clients.
    #[error("The database failed: {0}")]
    Failed(String),
}

/// A rule of the data that a write would break. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Another tag has the slug.
    #[error("The slug \"{0}\" is taken by another tag.")]
    SlugTaken(String),
    /// Another tag had the slug before, and still answers to it.
    #[error(
        "The slug \"{slug}\" is a former slug of the tag {tag}, and still leads there. Release it at that tag first."
    )]
    SlugReserved {
        /// The slug.
        slug: String,
        /// The tag that had it.
        tag: TagId,
    },
    /// The tag has had as many slugs before as it may have.
    #[error(
        "The tag has {FORMER_SLUGS_MAX} former slugs, and can have no more. Release one that no inlay and no print has, first."
    )]
    TooManyFormerSlugs,
    /// An import that is not finished needs the slug.
    #[error("The slug \"{0}\" is taken by an import that is not finished yet.")]
    SlugInImport(String),
    /// An import that is not finished has an inlay with the UID.
    #[error("An import that is not finished yet has an inlay with the UID {0}.")]
    UidInImport(String),
    /// Nobody went on with an import, so it was given up.
    #[error(
        "The import was given up, because it stood still for too long. Nothing of it is stored: start it again."
    )]
    ImportGivenUp,
    /// Another inlay has the UID.
    #[error("An inlay with the UID {0} exists already.")]
    UidTaken(String),
    /// The write refers to something that does not exist.
    #[error("There is no {noun} {id}.")]
    Missing {
        /// What it refers to.
        noun: &'static str,
        /// Its id.
        id: i64,
    },
    /// Inlay and tag are of two worlds: one is simulated, the other is not.
    #[error(
        "A {} inlay cannot be bound to the tag {tag}, which is {}: the simulated world and the real one do not mix.",
        if *simulated { "simulated" } else { "real" },
        if *simulated { "real" } else { "simulated" }
    )]
    OtherWorld {
        /// The tag.
        tag: TagId,
        /// Whether the inlay is simulated, and the tag is not.
        simulated: bool,
    },
    /// A virtual inlay's counter is at its end.
    #[error(transparent)]
    UsedUp(#[from] UsedUp),
    /// What is to be changed is not as its editor saw it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// The edit itself is not valid.
    #[error("{0}")]
    Invalid(String),
    /// What is to be deleted is still in use.
    #[error("{0}")]
    InUse(String),
}

impl Conflict {
    /// Refuses another slug to a tag that has `former` ones already, the present one left out.
    fn unless_former_slugs_have_room(former: u64) -> Result<(), Self> {
        if former < FORMER_SLUGS_MAX {
            Ok(())
        } else {
            Err(Self::TooManyFormerSlugs)
        }
    }

    /// Refuses to take away what the rows of an import need that is not finished.
    fn unless_reserved(noun: &str, rows: u64) -> Result<(), Self> {
        if rows == 0 {
            return Ok(());
        }
        let why =
            format!("An import that is not finished yet needs this {noun}. Wait for it to end.");
        Err(Self::InUse(why))
    }

    /// Refuses to delete an experience that tags lead to.
    fn unless_unused(tags: u64) -> Result<(), Self> {
        let why = match tags {
            0 => return Ok(()),
            1 => "One tag leads to this experience. Assign it another one first.".to_owned(),
            _ => format!("{tags} tags lead to this experience. Assign them another one first."),
        };
        Err(Self::InUse(why))
    }
}

/// What is wrong with an edit, in words.
impl From<String> for Conflict {
    fn from(why: String) -> Self {
        Self::Invalid(why)
    }
}

impl From<Changed> for StorageError {
    fn from(changed: Changed) -> Self {
        Conflict::from(changed).into()
    }
}

impl From<InvalidSetting> for Conflict {
    fn from(error: InvalidSetting) -> Self {
        Self::Invalid(error.to_string())
    }
}
