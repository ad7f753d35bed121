//! The audit log, in the words of the domain. Its rows are written by `plane`, in the commit of
//! the change.

use async_trait::async_trait;

use super::StorageError;
use crate::audit::{Fault, Note, Row};
use crate::clock::Timestamp;
use crate::id::TagId;

/// Which rows; what is absent selects all.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Those of this actor.
    pub actor: Option<String>,
    /// Those of this action, or of those whose names continue it behind a dot.
    pub action: Option<String>,
    /// Those of this object, or of those beneath it.
    pub object: Option<String>,
    /// Those at this time or later.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
}

/// The operations on the audit log.
#[async_trait]
pub trait Audit: Send + Sync {
    /// At most `limit` rows that `filter` lets through, the newest first: those before the row
    /// `before` if it is given.
    async fn audit(
        &self,
        filter: AuditFilter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Row>, StorageError>;

    /// Records the request at work by itself: for what is not configuration, before it is done.
    async fn record(&self, note: Note) -> Result<(), StorageError>;

    /// What is wrong with the log, if anything is.
    async fn check_audit(&self) -> Result<Option<Fault>, StorageError>;

    /// Erases the values in the rows of a tag, and of what is beneath it, and records the request
    /// at work. `None` where there is no such tag, not even a deleted one.
    async fn erase_audit(&self, tag: TagId) -> Result<Option<()>, StorageError>;

    /// Removes some rows of before `keep_since`, the oldest first; `true` if more are left.
    async fn prune_audit(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}
