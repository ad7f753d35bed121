//! Reads of inlays by this application. They do not count as missed reads of the next tap.
//!
//! Only the first verified tap after a read needs it, and that tap can come years later. So
//! retention removes a read when it visits it the second time, a whole retention period later, if
//! the counter was beyond the read at the first visit: the tap that needed it is removed by then.
//! In between, retention skips it.

use crate::shared::Transaction;
use crate::value::{Value, values};
use crate::{Access, StorageError};
use domain::clock::Timestamp;
use domain::id::InlayId;

/// Reads visited in one transaction, for which taps wait.
const AT_ONCE: usize = 1_000;

pub(super) async fn note(
    db: &Access,
    inlay: InlayId,
    counter: u32,
    now: Timestamp,
) -> Result<(), StorageError> {
    let sql = "INSERT INTO own_reads (inlay_id, counter, looked_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (inlay_id, counter) DO NOTHING";
    let values = values![inlay, counter, now].to_vec();
    let noted = db.change_at_once("note_own_read", sql, values).await;
    noted.map(drop)
}

/// Visits some reads that were last visited before `keep_since`. `true` if more may be left.
pub(super) async fn prune(db: &Access, keep_since: Timestamp) -> Result<bool, StorageError> {
    // Most rounds find no due read, and need no transaction.
    let is_due = db.read("due_own_reads", keep_since, |db, keep_since| {
        Box::pin(async move {
            let sql = "SELECT 1 FROM own_reads WHERE looked_at < ?1 LIMIT 1";
            db.exists(sql, &values![*keep_since]).await
        })
    });
    if !is_due.await? {
        return Ok(false);
    }
    db.change("prune_own_reads", keep_since, |tx, keep_since| {
        Box::pin(look(tx, *keep_since))
    })
    .await
}

async fn look(tx: &mut dyn Transaction, keep_since: Timestamp) -> Result<bool, StorageError> {
    tx.is_no_change();
    let now = tx.now();
    let next = "SELECT inlay_id, counter FROM own_reads WHERE looked_at < ?1
         ORDER BY looked_at, inlay_id, counter LIMIT ?2";
    let prune = format!("DELETE FROM own_reads WHERE (inlay_id, counter) IN ({next}) AND passed");
    let limit = || Value::limit(AT_ONCE);
    let removed = tx.execute(&prune, &values![keep_since, limit()]).await?;
    // Reads of an inlay whose counter is gone are not needed, either.
    let look = format!(
        "UPDATE own_reads SET looked_at = ?3, passed = NOT EXISTS (
             SELECT 1 FROM counters c WHERE c.inlay_id = own_reads.inlay_id AND c.last < own_reads.counter
         ) WHERE (inlay_id, counter) IN ({next})"
    );
    let values = values![keep_since, limit(), now];
    let marked = tx.execute(&look, &values).await?;
    Ok((removed + marked) >= AT_ONCE as u64)
}
