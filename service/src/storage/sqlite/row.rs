//! Rows into the domain's types. A value that is no such type's is a damaged
//! database, not a client's mistake.

pub(super) use crate::storage::value::unreadable;

/// A `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}
