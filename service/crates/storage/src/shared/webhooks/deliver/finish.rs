//! Stores the results of attempts.

use std::collections::BTreeMap;

use serde_json::json;

use super::look_at_next;
use crate::StorageError;
use crate::shared::Transaction;
use crate::shared::webhooks::{find, outbox};
use crate::value::{Value, values};
use crate::webhooks::{DOWN, Finished, PACE_SILENT, Settled};
use domain::clock::Timestamp;
use domain::id::WebhookId;
use domain::webhook::{
    ATTEMPTS, Alert, Disabled, EventKind, FAILING_MAX, next_attempt, object, origin,
};

/// Finished deliveries that are kept for each endpoint, so that they can be shown, and sent again
/// unchanged.
const KEPT: i64 = 1_000;
/// How many more there may be before some are removed, so that not every delivery removes one.
const SLACK: i64 = 200;
/// Deliveries removed in one transaction, for which taps wait. Later attempts remove more.
const TRIMMED_AT_ONCE: i64 = 1_000;
/// Consecutive failures after which the next success makes all waiting deliveries due.
const WOKEN_AFTER: u64 = 3;
/// Consecutive rejections of one type after which the endpoint counts as rejecting that type, if it
/// accepts others.
const REJECTED: usize = 3;
/// A rejected event is retried as if it had failed this many times, so late that it does not hold
/// up later events.
const NOT_SOON: u32 = 3;

pub(in crate::shared::webhooks) async fn finish(
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
        // An endpoint that is off since a restore logs its tests, too. A deleted endpoint has no
        // log.
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
        // A failed test does not count. A successful one shows that the endpoint is back.
        let is_test = one.chance.is_none();
        if is_test && one.outcome.failure.is_some() {
            continue;
        }
        slow |= one.slow;
        if let Some(failure) = &one.outcome.failure {
            failures += 1;
            // Of parallel attempts, the first to start may be the last to end.
            let at = one.outcome.at;
            failing_since = Some(failing_since.map_or(at, |since| since.min(at)));
            gone |= failure.gone;
        } else {
            if failures >= WOKEN_AFTER {
                back = failing_since;
            }
            failures = 0;
            failing_since = None;
        }
        // An attempt that ended together with the first success was made while the endpoint was
        // down.
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
    let failing_long = failing_since.is_some_and(|since| tx.now().since(since) >= FAILING_MAX);
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
    // An endpoint that answers may accept other events, which must not wait for the one it rejects.
    let last = attempts.iter().rev().find(|one| one.chance.is_some());
    let is_silent = failures >= DOWN && last.is_some_and(|one| one.outcome.status.is_none());
    let paced = tx.now().plus(PACE_SILENT);
    look_at_next(tx, webhook, is_silent.then_some(paced)).await?;
    if kept > KEPT + SLACK {
        trim(tx, webhook, (kept - KEPT).min(TRIMMED_AT_ONCE)).await?;
    }
    if let Some(why) = why.filter(|_| enabled) {
        settled.alerts.extend(disable(tx, webhook, why).await?);
    }
    Ok(())
}

/// When a delivery is retried; `None` if it is finished or given up. It is given up after
/// [`ATTEMPTS`] attempts, but never while its endpoint has accepted nothing since the first of
/// them: such an endpoint is down for all events, and is switched off if it stays down.
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
        // The log may contain attempts from before the delivery was sent again.
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

/// Whether a working endpoint rejects this type of event: it rejected this one and the last ones of
/// the type, and accepted one of another type.
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

/// Whether a status means that the request is wrong, and not the moment or the endpoint.
fn is_rejection(status: u16) -> bool {
    (400..500).contains(&status) && ![408, 410, 425, 429].contains(&status)
}

async fn log(tx: &mut dyn Transaction, one: &Finished) -> Result<(), StorageError> {
    // A delivery that was erased while in flight has no log, because the answer may repeat its
    // body.
    let sql = "INSERT INTO webhook_attempts (webhook_id, delivery_id, at, status, error, response, duration)
         SELECT webhook_id, id, ?2, ?3, ?4, ?5, ?6 FROM webhook_deliveries WHERE id = ?1";
    let outcome = &one.outcome;
    let values = values![
        one.delivery,
        outcome.at,
        outcome.status.map(u32::from),
        outcome.failure.as_ref().map(|failure| &failure.why),
        // PostgreSQL cannot store a zero byte in a text.
        outcome.response.replace('\0', ""),
        u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Removes the oldest finished deliveries, with their attempts.
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

/// Switches an endpoint off, and creates an event about it.
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
        // The rest of the URL may contain a secret, which other endpoints must not get.
        "url": origin(&webhook.fields.url),
        "reason": why,
        "failing_since": webhook.failing_since,
    });
    let alert = Alert::new(EventKind::AlertWebhookDisabled, message, data);
    outbox::tell(tx, alert.kind, alert.about, object(&alert.data)).await?;
    Ok(Some(alert))
}
