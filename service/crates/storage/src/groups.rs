//! The types of operations on groups of tags.

use super::Conflict;
use domain::group::{GroupFields, GroupKind};
use domain::id::GroupId;

/// An edit of a group, applied inside the operation that stores it. An `Err` stores nothing.
pub type GroupEdit = Box<dyn Fn(GroupFields) -> Result<GroupFields, Conflict> + Send + Sync>;

/// A group in the tree, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupNode {
    /// Identifier of the group.
    pub id: GroupId,
    /// The group that holds it.
    pub parent_id: Option<GroupId>,
    /// The kind of the group.
    pub kind: GroupKind,
    /// The owner's name for it.
    pub name: String,
}

/// Selects groups for a list; a group must match every given member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFilter {
    /// Groups directly in this one; `Some(None)` for those at the top.
    pub parent: Option<Option<GroupId>>,
    /// Groups of this kind.
    pub kind: Option<GroupKind>,
    /// Groups with this text in their name, code or GTIN, ignoring case.
    pub q: Option<String>,
}
