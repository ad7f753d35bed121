//! Attempts: who makes them, and what they came to.

use std::collections::BTreeMap;

use serde_json::json;

use super::edit::wants;
use super::route::wait_again;
use super::{find, outbox};
use crate::clock::Timestamp;
use crate::id::WebhookId;
use crate::storage::StorageError;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::{Query, Transaction};
use crate::storage::value::{Row, Value, values};
use crate::storage::webhooks::{Claimed, Finished, LEASE_MILLIS, Resend};
use crate::webhook::{Alert, Disabled, EventKind, FAILING_MAX, Happening, WebhookFields, object};

/// Deliveries of an endpoint that are kept once they are done, so that they can be looked at, and
/// sent again as they were.
const KEPT: i64 = 1_000;
/// How many more there may be before they are removed, so that it is not done for each one.
const SLACK: i64 = 200;
/// Failures in a row after which an endpoint counts as down. When it is back, what waits is sent
/// at once.
const DOWN: u64 = 3;

pub(super) async fn due(
    db: &mut dyn Query,
    held_back: bool,
    busy: &[WebhookId],
    limit: usize,
    now: Timestamp,
) -> Result<Vec<WebhookId>, StorageError> {
    let sql = "SELECT webhook_id FROM webhook_states
         WHERE enabled AND waiting > 0 AND next_at <= ?1 AND held_back = ?2 AND NOT webhook_id IN ids(?3)
         ORDER BY next_at LIMIT ?4";
    let values = values![now, held_back, Value::list(busy), Value::limit(limit)];
    let found = db.query(sql, &values).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

pub(super) async fn claim(
    tx: &mut dyn Transaction,
    webhooks: &[WebhookId],
    each: usize,
) -> Result<Vec<Claimed>, StorageError> {
    let now = tx.now();
    let mut claimed = Vec::new();
    for webhook in webhooks {
        let sql = "SELECT d.id, d.webhook_id, w.fields, w.secret, w.previous_secret, w.previous_until,
                 d.event_id, d.body, d.attempts
             FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
             WHERE d.webhook_id = ?1 AND d.waits AND d.next_at <= ?2 ORDER BY d.next_at, d.id LIMIT ?3";
        let found = tx
            .query(sql, &values![*webhook, now, Value::limit(each)])
            .await?;
        let found = found.into_iter().map(|row| read(row, now));
        let found: Vec<Claimed> = found.collect::<Result<_, _>>()?;
        let leased = Value::list(found.iter().map(|one| one.id));
        let sql = "UPDATE webhook_deliveries SET next_at = ?2 WHERE id IN ids(?1)";
        let until = now.plus_millis(LEASE_MILLIS);
        tx.execute(sql, &values![leased, until]).await?;
        claimed.extend(found);
        look_at_next(tx, *webhook).await?;
    }
    Ok(claimed)
}

fn read(mut row: Row, now: Timestamp) -> Result<Claimed, StorageError> {
    let (id, webhook_id) = (row.take()?, row.take()?);
    let fields: WebhookFields = row.json("webhook")?;
    let mut secrets = vec![row.take()?];
    let previous: Option<Vec<u8>> = row.take()?;
    let until: Option<Timestamp> = row.take()?;
    secrets.extend(previous.filter(|_| until.is_some_and(|until| now < until)));
    Ok(Claimed {
        id,
        webhook_id,
        url: fields.url,
        secrets,
        event_id: row.take()?,
        body: row.take()?,
        attempts: row.take()?,
    })
}

/// Notes when the endpoint's next attempt is.
async fn look_at_next(tx: &mut dyn Transaction, webhook: WebhookId) -> Result<(), StorageError> {
    let sql = "UPDATE webhook_states SET next_at = coalesce((SELECT min(d.next_at) FROM webhook_deliveries d
             WHERE d.webhook_id = ?1 AND d.waits), 0)
         WHERE webhook_id = ?1";
    tx.execute(sql, &values![webhook]).await.map(drop)
}

pub(super) async fn claim_test(
    tx: &mut dyn Transaction,
    id: WebhookId,
    event: &Happening,
) -> Result<Option<Claimed>, StorageError> {
    let Some(webhook) = find(tx, id).await? else {
        return Ok(None);
    };
    let sql = "INSERT INTO webhook_deliveries (webhook_id, event_id, type, at, body, waits, attempts, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, FALSE, 0, 0) RETURNING id";
    let values = values![
        id,
        &event.key,
        event.kind.as_str(),
        event.at,
        event.body(&webhook.fields, None),
    ];
    let delivery: i64 = tx.one(sql, &values).await?.take()?;
    let sql = "UPDATE webhook_states SET kept = kept + 1 WHERE webhook_id = ?1";
    tx.execute(sql, &values![id]).await?;
    let sql = "SELECT d.id, d.webhook_id, w.fields, w.secret, w.previous_secret, w.previous_until,
             d.event_id, d.body, d.attempts
         FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = ?1";
    let row = tx.one(sql, &values![delivery]).await?;
    read(row, tx.now()).map(Some)
}

pub(super) async fn resend(
    tx: &mut dyn Transaction,
    id: WebhookId,
    what: &Resend,
) -> Result<Option<bool>, StorageError> {
    if find(tx, id).await?.is_none() {
        return Ok(None);
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
                let sql = "UPDATE webhook_deliveries SET next_at = ?2 WHERE id = ?1";
                tx.execute(sql, &values![delivery, tx.now()]).await?;
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
    look_at_next(tx, id).await?;
    tx.changes(None);
    Ok(Some(true))
}

/// Takes an endpoint back to what happened at `since`. Taps commit in the order of their times, but
/// for those of a moment.
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
    // Where the endpoint was before it goes back is the furthest that it ever was.
    let sql = "UPDATE webhook_states SET resends = resends + 1,
             again_seq = CASE WHEN again_seq > tap_seq THEN again_seq ELSE tap_seq END,
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

pub(super) async fn finish(
    tx: &mut dyn Transaction,
    finished: &[Finished],
) -> Result<Vec<Alert>, StorageError> {
    let mut by_webhook: BTreeMap<WebhookId, Vec<&Finished>> = BTreeMap::new();
    for one in finished {
        by_webhook.entry(one.webhook_id).or_default().push(one);
    }
    let mut alerts = Vec::new();
    for (webhook, attempts) in by_webhook {
        alerts.extend(of_webhook(tx, webhook, &attempts).await?);
    }
    Ok(alerts)
}

async fn of_webhook(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    attempts: &[&Finished],
) -> Result<Option<Alert>, StorageError> {
    let sql =
        "SELECT failures, failing_since, enabled, kept FROM webhook_states WHERE webhook_id = ?1";
    let Some(mut state) = tx.row(sql, &values![webhook]).await? else {
        // A test of one that is off since a restore has a log, too; one that was deleted has none.
        if find(tx, webhook).await?.is_some() {
            for one in attempts {
                log(tx, one).await?;
            }
        }
        return Ok(None);
    };
    let mut failures: u64 = state.take()?;
    let mut failing_since: Option<Timestamp> = state.take()?;
    let (enabled, mut kept): (bool, i64) = (state.take()?, state.take()?);
    let (mut done, mut back, mut slow, mut gone) = (0_i64, false, false, false);
    for one in attempts {
        log(tx, one).await?;
        slow |= one.slow;
        if one.outcome.failure.is_none() {
            back |= failures >= DOWN;
            failures = 0;
            failing_since = None;
        } else {
            failures += 1;
            failing_since = failing_since.or(Some(one.outcome.at));
        }
        gone |= one
            .outcome
            .failure
            .as_ref()
            .is_some_and(|failure| failure.gone);
        let sql = "UPDATE webhook_deliveries SET waits = ?2, attempts = attempts + 1, next_at = ?3
             WHERE id = ?1 AND waits";
        let next = one.next_at.unwrap_or_default();
        let waited = tx
            .execute(sql, &values![one.delivery, one.next_at.is_some(), next])
            .await?;
        if waited > 0 && one.next_at.is_none() {
            done += 1;
        }
    }
    kept += done;
    if back {
        let sql = "UPDATE webhook_deliveries SET next_at = ?2 WHERE webhook_id = ?1 AND waits";
        tx.execute(sql, &values![webhook, tx.now()]).await?;
    }
    let failing_long =
        failing_since.is_some_and(|since| tx.now().millis_since(since) >= FAILING_MAX);
    let why = match (gone, failing_long && enabled) {
        (true, _) => Some(Disabled::Gone),
        (_, true) => Some(Disabled::Failing),
        _ => None,
    };
    let sql = "UPDATE webhook_states SET failures = ?2, failing_since = ?3, waiting = waiting - ?4, kept = ?5,
             held_back = ?6, enabled = enabled AND ?7, disabled = CASE WHEN ?7 THEN disabled ELSE ?8 END
         WHERE webhook_id = ?1";
    let values = values![
        webhook,
        failures,
        failing_since,
        done,
        kept,
        failures > 0 || slow,
        why.is_none(),
        why.map(Disabled::as_str),
    ];
    tx.execute(sql, &values).await?;
    look_at_next(tx, webhook).await?;
    if kept > KEPT + SLACK {
        trim(tx, webhook, kept - KEPT).await?;
    }
    match why.filter(|_| enabled) {
        Some(why) => disable(tx, webhook, why).await,
        None => Ok(None),
    }
}

async fn log(tx: &mut dyn Transaction, one: &Finished) -> Result<(), StorageError> {
    let sql = "INSERT INTO webhook_attempts (webhook_id, delivery_id, at, status, error, response, duration)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let outcome = &one.outcome;
    let values = values![
        one.webhook_id,
        one.delivery,
        outcome.at,
        outcome.status.map(u32::from),
        outcome.failure.as_ref().map(|failure| &failure.why),
        // PostgreSQL has no text with a zero byte.
        outcome.response.replace('\0', ""),
        u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Removes the oldest deliveries that are done, with their attempts.
async fn trim(tx: &mut dyn Transaction, webhook: WebhookId, many: i64) -> Result<(), StorageError> {
    let sql = "SELECT id FROM webhook_deliveries WHERE webhook_id = ?1 AND NOT waits ORDER BY id LIMIT ?2";
    let found = tx.query(sql, &values![webhook, many]).await?;
    let ids = found.into_iter().map(|mut row| row.take());
    let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
    let removed = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    let ids = Value::list(ids);
    let sql = "DELETE FROM webhook_attempts WHERE delivery_id IN ids(?1)";
    tx.execute(sql, std::slice::from_ref(&ids)).await?;
    let sql = "DELETE FROM webhook_deliveries WHERE id IN ids(?1)";
    tx.execute(sql, &[ids]).await?;
    let sql = "UPDATE webhook_states SET kept = kept - ?2 WHERE webhook_id = ?1";
    tx.execute(sql, &values![webhook, removed]).await.map(drop)
}

/// Tells that an endpoint was switched off.
async fn disable(
    tx: &mut dyn Transaction,
    id: WebhookId,
    why: Disabled,
) -> Result<Option<Alert>, StorageError> {
    wants(tx, id, &[]).await?;
    tx.changes(None);
    let Some(webhook) = find(tx, id).await? else {
        return Ok(None);
    };
    let message = match why {
        Disabled::Gone => "The endpoint answered 410, and was switched off.",
        Disabled::Failing => "The endpoint failed for five days, and was switched off.",
        Disabled::Restored => "The database was restored, and the endpoint is off.",
    };
    let data = json!({
        "webhook_id": id,
        "url": webhook.fields.url,
        "reason": why,
        "failing_since": webhook.failing_since,
    });
    let alert = Alert::new(EventKind::AlertWebhookDisabled, message, data);
    outbox::tell(tx, alert.kind, alert.about, object(&alert.data)).await?;
    Ok(Some(alert))
}
