//! Removes old hourly counts, which no report needs by the hour any more. Daily counts stay: they
//! are only a twenty-fourth of the rows.

use super::dimensions;
use crate::StorageError;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};

/// The row of `settings` with the first hour whose counts are kept.
const HOURS_SINCE: &str = "report_hours_since";
/// Rows removed in one transaction, for which taps wait.
const AT_ONCE: usize = 1_000;

/// The first hour whose counts are kept; `None` if none has been removed.
pub(super) async fn hours_since(db: &mut dyn Query) -> Result<Option<i64>, StorageError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    let row = db.row(sql, &values![HOURS_SINCE]).await?;
    let hour = row.map(|mut row| row.text("hour", |hour| hour.parse().ok()));
    hour.transpose()
}

/// Whether there are counts older than an hour.
pub(super) async fn is_due(db: &mut dyn Query, first: i64) -> Result<bool, StorageError> {
    let dimensions = dimensions(|_| true);
    // A count of a group's tags is as old as one of all tags.
    let sql = format!(
        "SELECT 1 FROM report_counts WHERE span = 1 AND dimension IN ({dimensions}) AND slot < ?1 LIMIT 1"
    );
    db.exists(&sql, &values![first]).await
}

/// Removes some old hourly counts. The same commit stores the first hour that is kept, so that a
/// report never lacks counts without saying so.
pub(super) async fn hours(tx: &mut dyn Transaction, first: i64) -> Result<bool, StorageError> {
    let since = hours_since(tx).await?;
    if since.is_none_or(|since| since < first) {
        let sql = "INSERT INTO settings (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        tx.execute(sql, &values![HOURS_SINCE, first.to_string()])
            .await?;
    }
    // Those of all tags go last, because they say that there are some to remove.
    let sql = "DELETE FROM report_group_counts WHERE
         (group_id, span, dimension, slot, value, experience_id, simulated) IN (
             SELECT group_id, span, dimension, slot, value, experience_id, simulated
             FROM report_group_counts WHERE span = 1 AND slot < ?1 LIMIT ?2)";
    let removed = tx
        .execute(sql, &values![first, Value::limit(AT_ONCE)])
        .await?;
    if removed == AT_ONCE as u64 {
        return Ok(true);
    }
    let dimensions = dimensions(|_| true);
    let sql = format!(
        "DELETE FROM report_counts WHERE (span, dimension, slot, value, experience_id, simulated) IN (
             SELECT span, dimension, slot, value, experience_id, simulated FROM report_counts
             WHERE span = 1 AND dimension IN ({dimensions}) AND slot < ?1 LIMIT ?2
         )"
    );
    let removed = tx
        .execute(&sql, &values![first, Value::limit(AT_ONCE)])
        .await?;
    Ok(removed == AT_ONCE as u64)
}
