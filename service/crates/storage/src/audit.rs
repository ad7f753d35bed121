//! The audit log, in domain terms. `shared` writes its rows in the commit of the change.

use async_trait::async_trait;

use super::StorageError;
use domain::audit::{Fault, Note, Row};
use domain::clock::Timestamp;
use domain::id::TagId;

/// Selects rows of the audit log; an absent member selects all.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Rows of this actor.
    pub actor: Option<String>,
    /// Rows of this action, or of actions whose name starts with it and a dot.
    pub action: Option<String>,
    /// Rows of this object, or of objects below it.
    pub object: Option<String>,
    /// Rows at this time or later.
    pub since: Option<Timestamp>,
    /// Rows before this time.
    pub until: Option<Timestamp>,
}

/// The operations on the audit log.
#[async_trait]
pub trait Audit: Send + Sync {
    /// At most `limit` rows that match `filter`, the newest first. With `before`, only rows before
    /// that row.
    async fn audit(
        &self,
        filter: AuditFilter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Row>, StorageError>;

    /// Records the current request in a commit of its own: for requests that do not change the
    /// configuration, before they are carried out.
    async fn record(&self, note: Note) -> Result<(), StorageError>;

    /// The first fault that a check of the log finds, if any.
    async fn check_audit(&self) -> Result<Option<Fault>, StorageError>;

    /// Erases the values in the rows of a tag and of objects below it, and records the current
    /// request. `None` if there is no such tag, not even a deleted one.
    async fn erase_audit(&self, tag: TagId) -> Result<Option<()>, StorageError>;

    /// Removes some rows older than `keep_since`, the oldest first; `true` if more are left.
    async fn prune_audit(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}
