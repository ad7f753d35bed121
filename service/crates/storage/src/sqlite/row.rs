//! Converts rows into domain types. A value of another type means a damaged database, not a
//! client's mistake.

pub(super) use crate::value::unreadable;

/// The parameter of a `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}
