//! The audit log, in domain terms. `shared` writes its rows in the commit of the change.

use domain::clock::Timestamp;

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
