//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

use crate::experience::Content;
use crate::storage::StorageError;
pub(super) use crate::storage::value::unreadable;

/// A `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// An experience's stored content.
pub(super) fn content(json: &str) -> Result<Content, StorageError> {
    Content::from_json(json).map_err(|_| unreadable("experience"))
}
