//! Attempts: who makes them, and what they came to.

use std::collections::BTreeMap;

use serde_json::json;

use super::route::wait_again;
use super::{find, outbox};
use crate::clock::Timestamp;
use crate::id::WebhookId;
use crate::storage::StorageError;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::{Query, Transaction};
use crate::storage::value::{Row, Value, values};
use crate::storage::webhooks::{Backlog, Claimed, Finished, LEASE_MILLIS, Resend, Settled};
use crate::webhook::{
    ATTEMPTS, Alert, Disabled, EventKind, FAILING_MAX, Happening, WebhookFields, next_attempt,
    object, origin,
};

/// Deliveries of an endpoint that are kept once they are done, so that they can be looked at, and
/// sent again as they were.
const KEPT: i64 = 1_000;
/// How many more there may be before they are removed, so that it is not done for each one.
const SLACK: i64 = 200;
/// Failures in a row after which an endpoint counts as down. When it is back, what waits is sent
/// at once.
const DOWN: u64 = 3;
/// After so many rejections in a row an endpoint that takes other events rejects a kind of them.
const REJECTED: usize = 3;
/// What is rejected is tried again as if it had failed so often: not soon, so that it holds up no
/// event behind it.
const NOT_SOON: u32 = 3;
/// Deliveries that are woken in one transaction: taps wait for it.
const WOKEN_AT_ONCE: usize = 100;

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

pub(super) async fn finish(
    tx: &mut dyn Transaction,
    finished: &[Finished],
) -> Result<Settled, StorageError> {
    let mut by_webhook: BTreeMap<WebhookId, Vec<&Finished>> = BTreeMap::new();
    for one in finished {
        by_webhook.entry(one.webhook_id).or_default().push(one);
    }
    let mut settled = Settled::default();
    for (webhook, attempts) in by_webhook {
        of_webhook(tx, webhook, &attempts, &mut settled).await?;
    }
    Ok(settled)
}

async fn of_webhook(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    attempts: &[&Finished],
    settled: &mut Settled,
) -> Result<(), StorageError> {
    let sql =
        "SELECT failures, failing_since, enabled, kept FROM webhook_states WHERE webhook_id = ?1";
    let Some(mut state) = tx.row(sql, &values![webhook]).await? else {
        // A test of one that is off since a restore has a log, too; one that was deleted has none.
        if find(tx, webhook).await?.is_some() {
            for one in attempts {
                log(tx, one).await?;
            }
        }
        return Ok(());
    };
    let mut failures: u64 = state.take()?;
    let mut failing_since: Option<Timestamp> = state.take()?;
    let (enabled, mut kept): (bool, i64) = (state.take()?, state.take()?);
    let was_down_since = failing_since;
    let (mut done, mut back, mut slow, mut gone) = (0_i64, None, false, false);
    for one in attempts {
        log(tx, one).await?;
        slow |= one.slow;
        if let Some(failure) = &one.outcome.failure {
            failures += 1;
            // Of attempts that are made at once, the first to begin may be the last to end.
            let at = one.outcome.at;
            failing_since = Some(failing_since.map_or(at, |since| since.min(at)));
            gone |= failure.gone;
        } else {
            if failures >= DOWN {
                back = failing_since;
            }
            failures = 0;
            failing_since = None;
        }
        // Also one that ends beside the first success was made of an endpoint that was down.
        let next = next_at(tx, one, was_down_since.or(failing_since)).await?;
        let sql = "UPDATE webhook_deliveries SET waits = ?2, attempts = attempts + 1, next_at = ?3
             WHERE id = ?1 AND waits";
        let values = values![one.delivery, next.is_some(), next.unwrap_or_default()];
        if tx.execute(sql, &values).await? > 0 && next.is_none() {
            done += 1;
            settled.given_up += u64::from(one.outcome.failure.is_some());
        }
    }
    kept += done;
    settled.back.extend(back.map(|since| (webhook, since)));
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
    if let Some(why) = why.filter(|_| enabled) {
        settled.alerts.extend(disable(tx, webhook, why).await?);
    }
    Ok(())
}

/// When a delivery is tried again; `None` if it is done, or is given up. That is after so many
/// attempts, and never while its endpoint has taken nothing since the first of them: an endpoint
/// that is down refuses everybody, and is switched off if it stays so.
async fn next_at(
    tx: &mut dyn Transaction,
    one: &Finished,
    down_since: Option<Timestamp>,
) -> Result<Option<Timestamp>, StorageError> {
    let (Some(failure), Some(chance)) = (&one.outcome.failure, one.chance) else {
        return Ok(None);
    };
    let sql = "SELECT attempts, type FROM webhook_deliveries WHERE id = ?1 AND waits";
    let Some(mut waits) = tx.row(sql, &values![one.delivery]).await? else {
        return Ok(None);
    };
    let made = waits.take::<u32>()?.saturating_add(1);
    let kind: String = waits.take()?;
    if made >= ATTEMPTS {
        // The log may have attempts of before it was sent again.
        let sql = "SELECT min(at) FROM
             (SELECT at FROM webhook_attempts WHERE delivery_id = ?1 ORDER BY id DESC LIMIT ?2) AS made";
        let mut first = tx.one(sql, &values![one.delivery, made]).await?;
        let first: Option<Timestamp> = first.take()?;
        if down_since.is_none_or(|since| first.is_some_and(|first| first < since)) {
            return Ok(None);
        }
    }
    let asked = failure.retry_after;
    let made = if rejects(tx, one, &kind).await? {
        made.max(NOT_SOON)
    } else {
        made
    };
    Ok(Some(next_attempt(made, one.outcome.at, asked, chance)))
}

/// Whether its endpoint is well and rejects this kind of event: it says so of the event, the last
/// ones of the kind fared no better, and it took one of another kind.
async fn rejects(
    tx: &mut dyn Transaction,
    one: &Finished,
    kind: &str,
) -> Result<bool, StorageError> {
    if !one.outcome.status.is_some_and(is_rejection) {
        return Ok(false);
    }
    let sql =
        "SELECT a.status FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
         WHERE a.webhook_id = ?1 AND d.type = ?2 ORDER BY a.id DESC LIMIT ?3";
    let values = values![one.webhook_id, kind, Value::limit(REJECTED)];
    let found = tx.query(sql, &values).await?;
    let statuses = found.into_iter().map(|mut row| row.take());
    let statuses: Vec<Option<u32>> = statuses.collect::<Result<_, _>>()?;
    let rejected = |status: &Option<u32>| {
        let status = status.and_then(|status| u16::try_from(status).ok());
        status.is_some_and(is_rejection)
    };
    if statuses.len() < REJECTED || !statuses.iter().all(rejected) {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
         WHERE d.webhook_id = ?1 AND NOT d.waits AND d.type <> ?2 AND a.error IS NULL LIMIT 1";
    tx.exists(sql, &values![one.webhook_id, kind]).await
}

/// Whether a status says that the request is wrong, rather than the moment or the endpoint.
fn is_rejection(status: u16) -> bool {
    (400..500).contains(&status) && ![408, 410, 425, 429].contains(&status)
}

/// Deliveries that failed and were never attempted before `since`.
pub(super) async fn asleep(
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

/// Has deliveries be attempted at once, as if they had never been.
pub(super) async fn wake(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    deliveries: &[i64],
) -> Result<(), StorageError> {
    hurry(tx, deliveries).await?;
    let sql = "UPDATE webhook_deliveries SET attempts = 0 WHERE id IN ids(?1) AND waits";
    tx.execute(sql, &[Value::list(deliveries)]).await?;
    look_at_next(tx, webhook).await
}

/// Has deliveries that wait be attempted at once. One that is due within a lease may be on its way:
/// it stays where it is, for otherwise it would be sent a second time beside the first one.
async fn hurry(tx: &mut dyn Transaction, deliveries: &[i64]) -> Result<(), StorageError> {
    let now = tx.now();
    let sql =
        "UPDATE webhook_deliveries SET next_at = ?2 WHERE id IN ids(?1) AND waits AND next_at > ?3";
    let leased = now.plus_millis(LEASE_MILLIS);
    let values = values![Value::list(deliveries), now, leased];
    tx.execute(sql, &values).await.map(drop)
}

/// What endpoints that are on are still to be sent. Those that fail, and those that are sent again
/// what they had, count for none that are late.
pub(super) async fn backlog(db: &mut dyn Query, now: Timestamp) -> Result<Backlog, StorageError> {
    let sql = "SELECT CAST(coalesce(sum(waiting), 0) AS BIGINT),
             min(CASE WHEN failures = 0 AND waiting > 0 AND next_at > 0 THEN next_at END),
             min(CASE WHEN failures = 0 AND tap_seq >= again_seq THEN tap_seq END),
             min(CASE WHEN failures = 0 AND outbox_seq >= again_outbox_seq THEN outbox_seq END)
         FROM webhook_states WHERE enabled";
    let mut states = db.one(sql, &[]).await?;
    let waiting = states.take()?;
    let due: Option<Timestamp> = states.take()?;
    let (tap, event): (Option<i64>, Option<i64>) = (states.take()?, states.take()?);
    let (next_tap, next_event) = match db.dialect() {
        Dialect::Sqlite => (
            "SELECT at FROM interactions WHERE id > ?1 ORDER BY id LIMIT 1",
            "SELECT at FROM outbox WHERE id > ?1 ORDER BY id LIMIT 1",
        ),
        Dialect::Postgres => (
            "SELECT at FROM interactions WHERE seq > ?1 ORDER BY seq LIMIT 1",
            "SELECT at FROM outbox WHERE seq > ?1 ORDER BY seq LIMIT 1",
        ),
    };
    let mut oldest = due;
    for (sql, place) in [(next_tap, tap), (next_event, event)] {
        let Some(place) = place else { continue };
        if let Some(mut next) = db.row(sql, &values![place]).await? {
            let at: Timestamp = next.take()?;
            oldest = Some(oldest.map_or(at, |oldest| oldest.min(at)));
        }
    }
    let late = oldest.map_or(0, |oldest| now.millis_since(oldest).max(0));
    Ok(Backlog { waiting, late })
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
        // The rest of it may hold a secret, which other endpoints are not told.
        "url": origin(&webhook.fields.url),
        "reason": why,
        "failing_since": webhook.failing_since,
    });
    let alert = Alert::new(EventKind::AlertWebhookDisabled, message, data);
    outbox::tell(tx, alert.kind, alert.about, object(&alert.data)).await?;
    Ok(Some(alert))
}
