//! The operations that the service needs from a database, in domain terms.
//!
//! [`Storage`] is an open database, [`Access`] its operations, for whoever asks for them.
//!
//! Every operation is atomic: races are decided inside it, and no caller checks with one call and
//! acts with another. An operation that writes returns after its commit is on disk. A missing row is
//! `Ok(None)`. Each backend keeps its own time, and that time decides about keys.
//!
//! | Modules | Subject |
//! |---|---|
//! | `access` | who operates, and for whom; the operations on the database as a whole |
//! | `taps`, `access::history` | the operations that each backend implements by itself |
//! | `shared` | all other operations: rules and SQL of configured data, for both databases |
//! | `tags`, `inlays` and other nouns | the types of operations: filters, edits, results |
//! | [`sqlite`], `postgres` | the backends |
//! | `deferred` | details of a tap: noted in memory, stored with a later commit |
//! | `erasure` | the SQL that erases a tag's visitors |
//! | [`catalogue`] | all tables and columns: whether they are moved, erased, or wrapped |
//! | [`transfer`], `migrate_store` | moves a whole database from one backend to the other |

mod access;
mod administration;
mod audit;
mod backups;
pub mod catalogue;
mod certificates;
mod conflict;
mod deferred;
mod encoding_runs;
mod encodings;
mod epochs;
mod erasure;
mod event;
mod expected_taps;
mod experiences;
mod factory_orders;
mod groups;
mod imports;
mod inlays;
mod interactions;
mod key_rotation;
mod mail;
mod metrics;
#[cfg(feature = "postgres")]
pub mod migrate_store;
mod notification_health;
mod notifications;
pub mod panics;
pub mod search;
mod shared;
mod sheets;
mod submissions;
mod tags;
mod taps;
mod unlisted;
mod url_templates;
mod value;
mod visitors;
mod webhooks;

#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
pub mod transfer;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

pub use access::{Access, Storage};
pub use administration::{BackupNote, Examination, Secrets, SettingsEdit};
pub use audit::AuditFilter;
pub use backups::{
    BackupContent, BackupResult, BackupSchedule, BackupSeal, ScheduleEdit, SealedForBackups,
};
pub use certificates::{AttemptEnd, CertificateState, ClaimedDomain, StoredCertificate};
pub use conflict::{Conflict, InUse, Invalid};
// Many operations take a precondition: the version of a resource that an edit expects.
pub use domain::revision::Precondition;
pub use encoding_runs::{KeptPlace, RunEdit, RunPlace, RunTag};
pub use encodings::{
    ChipState, EncodingFilter, EncodingTurn, Ending, ExposedInlay, SealedRoot, StoredEncoding,
    StoredGeneration, StoredJournal,
};
pub use erasure::CLIENTS_KEPT;
pub use event::{Event, SharedEvent, Subject};
pub use experiences::{ExperienceEdit, ExperienceFilter};
pub use factory_orders::{CameBack, NewOrder, Taken, WrappedSet};
pub use groups::{GroupEdit, GroupFilter, GroupNode};
pub use imports::{
    KeptInlay, LEFT_AFTER, ROWS_AT_ONCE, ROWS_IN_COMMIT, Staged, finish as finish_import,
};
pub use inlays::{CarriedTagUrl, InlayEdit, InlayFilter, OtherInlays, SimulatedTag};
pub use interactions::{
    GroupOverview, InteractionFilter, LOOKED_AT_MAX, Overview, SAMPLE_MAX, Stretch,
};
pub use key_rotation::{KeyRotation, Rewrap, Rewrapped, SecretsDone, SecretsPlace};
pub use mail::MailServerEdit;
pub use metrics::{Queue, StorageMetrics};
pub use notification_health::{NotificationBacklog, NotificationTrouble};
pub use notifications::{
    ClaimedMessage, Collected, DeliveryEnd, DeliveryFailure, JoinedMail, Lane, MailServer,
    MessageCause, NewMessage, Notification, NotificationEdit, NotificationState,
    SealedNotification, Tried,
};
pub use sheets::SheetEdit;
pub use submissions::SubmissionFilter;
pub use tags::{
    AttributeOrder, COUNTING, ChangedTag, Estimate, FormVariables, ImportRow, Imported, KeyCounts,
    MissingVariables, Put, TagChange, TagEdit, TagFilter, TagList, TagOrder, TagPlace, TagSelect,
    TagSet, TagsByAttribute, ValueCounts,
};
pub use taps::{
    BoundInlay, NamedTag, TagInlays, TagKey, TagTap, TemplateInlay, UpdateRefusal, Updated,
    VariableUpdate,
};
pub use unlisted::{
    CreatedByTap, EnrolOn, MadeByTaps, NewIds, UnlistedFilter, UnlistedOutcome, UnlistedTap,
};
pub use url_templates::UrlTemplateEdit;
pub use visitors::{Entered, FoundUpdates, UpdateFilter};
pub use webhooks::{
    Advance, Backlog, Claimed, CommitPosition, Cursor, DOWN, EventProperties, Finished, LEASE,
    Move, NewDelivery, Resend, RouteFields, RouteState, SOON, Settled, WebhookEdit,
};

use crate::panics::Panicked;
use domain::group::InvalidPlace;
use domain::id::{ExperienceId, GroupId, TagId};
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

/// A part of the configuration that is cached separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedPart {
    /// A tag with its inlays, as [`Access::tag_tap`] returns it.
    Tag(TagId),
    /// The published version of an experience.
    Experience(ExperienceId),
    /// A group of tags itself, without the groups above and below it.
    Group(GroupId),
    /// All URL templates together.
    UrlTemplates,
    /// All staff phones together.
    Phones,
    /// The settings with the logo of plain pages and the checks of the tag URL.
    Settings,
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

impl StorageError {
    /// The same error, if the request names the missing object in a list. `field` is the list, or its
    /// entry, in the form of [`FieldError::field`](domain::field_error::FieldError::field).
    #[must_use]
    pub fn in_list(self, field: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Conflict(Conflict::Missing { noun, id }) => {
                let field = field.into();
                Self::Conflict(Conflict::MissingInList { field, noun, id })
            }
            other => other,
        }
    }

    /// Explanation for people: the problem, and how to solve it. It has no internals, which
    /// [`StorageError::log`] writes.
    pub fn for_people(&self) -> String {
        match self {
            Self::Conflict(conflict) => conflict.to_string(),
            Self::Unsupported(why) => (*why).to_owned(),
            Self::Full => {
                "The disk is full. Nothing was written; make room and try again.".to_owned()
            }
            Self::Unavailable(_) => {
                "The database is not available at the moment; try again.".to_owned()
            }
            Self::Panicked | Self::Failed(_) => {
                "The service failed; its log contains the reason.".to_owned()
            }
        }
    }

    /// Writes a failure of the database to the log. Other errors are the answer to a request.
    pub fn log(&self) {
        match self {
            Self::Conflict(_) | Self::Unsupported(_) | Self::Full => {}
            Self::Unavailable(why) => tracing::warn!("the database is not available: {why}"),
            Self::Panicked => tracing::error!("an operation of the database panicked"),
            Self::Failed(why) => tracing::error!("the database failed: {why}"),
        }
    }
}

impl From<InUse> for StorageError {
    fn from(why: InUse) -> Self {
        Conflict::from(why).into()
    }
}

impl From<InvalidPlace> for StorageError {
    fn from(why: InvalidPlace) -> Self {
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
