//! Converts rows into domain types. A value of another type means a damaged database, not a
//! client's mistake.

use rusqlite::Row;
use rusqlite::types::ValueRef;

pub(super) use crate::value::unreadable;

/// Reads a column that is an id.
pub(super) fn id<T: TryFrom<i64>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let number: i64 = row.get(column)?;
    T::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Reads a column that is an id or `NULL`.
pub(super) fn optional_id<T: TryFrom<i64>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => id(row, column).map(Some),
    }
}

/// The parameter of a `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}
