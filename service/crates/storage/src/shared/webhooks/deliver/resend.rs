//! Sends events again: at the owner's request, or because the endpoint is back.

use super::look_at_next;
use crate::shared::dialect::Dialect;
use crate::shared::webhooks::find;
use crate::shared::webhooks::route::wait_again;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use crate::webhooks::{LEASE, Resend};
use crate::{Conflict, StorageError};
use domain::clock::Timestamp;
use domain::id::WebhookId;

/// Deliveries woken in one transaction, for which taps wait.
const WOKEN_AT_ONCE: usize = 100;

pub(in crate::shared::webhooks) async fn resend(
    tx: &mut dyn Transaction,
    id: WebhookId,
    what: &Resend,
) -> Result<Option<bool>, StorageError> {
    let Some(webhook) = find(tx, id).await? else {
        return Ok(None);
    };
    if !webhook.fields.enabled {
        return Err(Conflict::WebhookOff(webhook.disabled).into());
    }
    let waiting = match what {
        Resend::Event(event) => {
            let sql =
                "SELECT id, waits FROM webhook_deliveries WHERE webhook_id = ?1 AND event_id = ?2";
            let Some(mut row) = tx.row(sql, &values![id, event]).await? else {
                return Ok(Some(false));
            };
            let delivery: i64 = row.take()?;
            if row.take()? {
                hurry(tx, &[delivery]).await?;
                0_i64
            } else {
                wait_again(tx, id, delivery).await?;
                1
            }
        }
        Resend::Since(since) => {
            rewind(tx, id, *since).await?;
            0
        }
    };
    let sql = "UPDATE webhook_states SET waiting = waiting + ?2 WHERE webhook_id = ?1";
    tx.execute(sql, &values![id, waiting]).await?;
    look_at_next(tx, id, None).await?;
    tx.changes(None);
    Ok(Some(true))
}

/// Moves an endpoint back to the events since `since`. Taps commit in the order of their times,
/// except within a moment.
async fn rewind(
    tx: &mut dyn Transaction,
    id: WebhookId,
    since: Timestamp,
) -> Result<(), StorageError> {
    let (tap, event) = match tx.dialect() {
        Dialect::Sqlite => (
            "SELECT min(id), 0 FROM (SELECT id FROM interactions WHERE at >= ?1 ORDER BY at LIMIT 1000)",
            "SELECT min(id) FROM outbox WHERE at >= ?1",
        ),
        Dialect::Postgres => (
            "SELECT min(seq), min(id) FROM (SELECT seq, id FROM interactions WHERE at >= ?1 AND seq > 0 ORDER BY at LIMIT 1000) AS first",
            "SELECT min(seq) FROM outbox WHERE at >= ?1",
        ),
    };
    let mut first = tx.one(tap, &values![since]).await?;
    let (tap, tap_id): (Option<i64>, Option<i64>) = (first.take()?, first.take()?);
    let event: Option<i64> = tx.one(event, &values![since]).await?.take()?;
    // `again_seq` keeps the furthest place that the endpoint has ever reached: it may have got the
    // events up to there before.
    let sql = "UPDATE webhook_states SET resends = resends + 1,
             again_seq = CASE WHEN again_seq > tap_seq THEN again_seq ELSE tap_seq END,
             again_outbox_seq = CASE WHEN again_outbox_seq > outbox_seq THEN again_outbox_seq ELSE outbox_seq END,
             tap_seq = CASE WHEN ?2 <= tap_seq THEN ?2 - 1 ELSE tap_seq END,
             tap_id = CASE WHEN ?2 <= tap_seq THEN ?3 ELSE tap_id END,
             outbox_seq = CASE WHEN ?4 <= outbox_seq THEN ?4 - 1 ELSE outbox_seq END,
             outbox_id = CASE WHEN ?4 <= outbox_seq THEN 0 ELSE outbox_id END
         WHERE webhook_id = ?1";
    let values = values![
        id,
        tap.unwrap_or(i64::MAX),
        tap_id.unwrap_or_default(),
        event.unwrap_or(i64::MAX),
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Deliveries that failed and were not attempted before `since`.
pub(in crate::shared::webhooks) async fn asleep(
    db: &mut dyn Query,
    webhook: WebhookId,
    since: Timestamp,
) -> Result<Vec<i64>, StorageError> {
    let sql = "SELECT d.id FROM webhook_deliveries d
         WHERE d.webhook_id = ?1 AND d.waits AND d.attempts > 0 AND NOT EXISTS (
             SELECT 1 FROM webhook_attempts a WHERE a.delivery_id = d.id AND a.at < ?2)
         ORDER BY d.next_at LIMIT ?3";
    let values = values![webhook, since, Value::limit(WOKEN_AT_ONCE)];
    let found = db.query(sql, &values).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

/// Makes deliveries due at once, as if they had never been attempted.
pub(in crate::shared::webhooks) async fn wake(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    deliveries: &[i64],
) -> Result<(), StorageError> {
    hurry(tx, deliveries).await?;
    let sql = "UPDATE webhook_deliveries SET attempts = 0 WHERE id IN ids(?1) AND waits";
    tx.execute(sql, &[Value::list(deliveries)]).await?;
    look_at_next(tx, webhook, None).await
}

/// Makes waiting deliveries due at once. One that is due within a lease may be in flight: it is
/// left out, because it would be sent a second time in parallel.
async fn hurry(tx: &mut dyn Transaction, deliveries: &[i64]) -> Result<(), StorageError> {
    let now = tx.now();
    let sql =
        "UPDATE webhook_deliveries SET next_at = ?2 WHERE id IN ids(?1) AND waits AND next_at > ?3";
    let leased = now.plus(LEASE);
    let values = values![Value::list(deliveries), now, leased];
    tx.execute(sql, &values).await.map(drop)
}
