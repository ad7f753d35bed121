//! Converts rows into domain types. A value of another type means a damaged database, not a
//! client's mistake.

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::StorageError;
pub(super) use crate::value::unreadable;
use domain::clock::{Millis, Timestamp};

/// The parameter of a `LIMIT`.
pub(super) fn limit(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// Reads a column that the statement has.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, StorageError> {
    row.try_get(index).map_err(StorageError::from)
}

/// Reads a column that is an id.
pub(super) fn id<T: TryFrom<i64>>(row: &Row, index: usize) -> Result<T, StorageError> {
    let number: i64 = column(row, index)?;
    T::try_from(number).map_err(|_| unreadable("id"))
}

/// Reads a time, stored in milliseconds.
pub(super) fn time(row: &Row, index: usize) -> Result<Timestamp, StorageError> {
    column(row, index).map(Timestamp::from_millis)
}

/// Reads a column of milliseconds.
pub(super) fn millis(row: &Row, index: usize) -> Result<Millis, StorageError> {
    column(row, index).map(Millis::new)
}

/// Reads a time that may be `NULL`.
pub(super) fn optional_time(row: &Row, index: usize) -> Result<Option<Timestamp>, StorageError> {
    Ok(column::<Option<i64>>(row, index)?.map(Timestamp::from_millis))
}
