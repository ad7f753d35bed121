//! Columns that test sheets and encoding runs share.

use super::Transaction;
use crate::StorageError;
use crate::value::{FromValue, Row, Value, values};
use domain::audit::Note;
use domain::batch::Batch;
use domain::clock::Timestamp;

/// Reads the columns `name`, `planned`, `created_at` and `closed_at`, in this order.
pub(super) fn read<K>(
    row: &mut Row,
) -> Result<(Batch<K>, Timestamp, Option<Timestamp>), StorageError> {
    let (name, planned): (String, _) = (row.take()?, row.take()?);
    let (created_at, closed_at): (_, Option<Timestamp>) = (row.take()?, row.take()?);
    let batch = Batch::new(name, planned).closed(closed_at.is_some());
    Ok((batch, created_at, closed_at))
}

/// Inserts a batch with a further column, and returns its id.
pub(super) async fn insert<K, I: FromValue>(
    tx: &mut dyn Transaction,
    table: &'static str,
    batch: &Batch<K>,
    (column, value): (&'static str, String),
) -> Result<I, StorageError> {
    let now = tx.now();
    let closed_at = batch.closed.then_some(now);
    let sql = format!(
        "INSERT INTO {table} (name, planned, created_at, closed_at, {column})
         VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id"
    );
    let values = values![&batch.name, batch.planned, now, closed_at, value];
    tx.write_one(&sql, &values).await?.take()
}

/// Stores a changed batch. `before` is the batch as it is stored, with the time of its closing,
/// which a batch keeps while it stays closed.
pub(super) async fn update<K: PartialEq>(
    tx: &mut dyn Transaction,
    table: &'static str,
    id: impl Into<Value<'static>>,
    (before, closed_at): (&Batch<K>, Option<Timestamp>),
    after: &Batch<K>,
) -> Result<(), StorageError> {
    if after == before {
        return Ok(());
    }
    tx.note(Note::changed(before, after));
    let closed_at = after.closed.then(|| closed_at.unwrap_or(tx.now()));
    let sql = format!("UPDATE {table} SET name = ?2, planned = ?3, closed_at = ?4 WHERE id = ?1");
    let id: Value<'static> = id.into();
    let values = values![id, &after.name, after.planned, closed_at];
    tx.execute(&sql, &values).await.map(drop)
}
