//! Removes stored events that have reached the age limit of their content.

use crate::StorageError;
use crate::shared::erased_events::forget_deliveries;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use domain::clock::Timestamp;
use domain::webhook::EventKind;

/// Deliveries removed in one transaction, for which taps wait.
const AT_ONCE: usize = 500;

/// Some deliveries of events of these types older than `keep_since`, delivered or not.
pub(in crate::shared::webhooks) async fn aged(
    db: &mut dyn Query,
    kinds: &[EventKind],
    keep_since: Timestamp,
) -> Result<Vec<i64>, StorageError> {
    let names = Value::list(kinds.iter().map(|kind| kind.as_str()));
    let sql = "SELECT id FROM webhook_deliveries WHERE type IN texts(?1) AND at < ?2 LIMIT ?3";
    let values = values![names, keep_since, Value::limit(AT_ONCE)];
    let found = db.query(sql, &values).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

/// Removes deliveries with their attempts. An attempt in flight is not repeated.
pub(in crate::shared::webhooks) async fn forget(
    tx: &mut dyn Transaction,
    deliveries: &[i64],
) -> Result<(), StorageError> {
    forget_deliveries(tx, "id IN ids(?1)", &[Value::list(deliveries)]).await
}
