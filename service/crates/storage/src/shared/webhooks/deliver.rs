//! Attempts: which delivery is due, and who attempts it.

mod age;
mod backlog;
mod finish;
mod resend;

pub(super) use age::{aged, forget};
pub(super) use backlog::backlog;
pub(super) use finish::finish;
pub(super) use resend::{asleep, resend, wake};

use super::find;
use crate::StorageError;
use crate::shared::{Query, Transaction};
use crate::value::{Row, Value, values};
use crate::webhooks::{Claimed, LEASE};
use domain::clock::Timestamp;
use domain::id::WebhookId;
use domain::revision::Precondition;
use domain::webhook::{Happening, TagNow, WebhookFields};

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
        let until = now.plus(LEASE);
        tx.execute(sql, &values![leased, until]).await?;
        claimed.extend(found);
        look_at_next(tx, *webhook, None).await?;
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

/// Stores when the endpoint's next attempt is due: with its next delivery, and not before
/// `earliest`.
async fn look_at_next(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    earliest: Option<Timestamp>,
) -> Result<(), StorageError> {
    let sql =
        "UPDATE webhook_states SET next_at = (SELECT CASE WHEN first.at < ?2 THEN ?2 ELSE first.at END
             FROM (SELECT coalesce(min(d.next_at), 0) AS at FROM webhook_deliveries d
                 WHERE d.webhook_id = ?1 AND d.waits) AS first)
         WHERE webhook_id = ?1";
    let values = values![webhook, earliest.unwrap_or_default()];
    tx.execute(sql, &values).await.map(drop)
}

pub(super) async fn claim_test(
    tx: &mut dyn Transaction,
    id: WebhookId,
    event: &Happening,
    expected: &Precondition,
) -> Result<Option<Claimed>, StorageError> {
    let Some(webhook) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&webhook))?;
    let sql = "INSERT INTO webhook_deliveries (webhook_id, event_id, type, at, body, waits, attempts, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, FALSE, 0, 0) RETURNING id";
    let values = values![
        id,
        &event.key,
        event.kind.as_str(),
        event.at,
        event.body(&webhook.fields, TagNow::default()),
    ];
    let delivery: i64 = tx.write_one(sql, &values).await?.take()?;
    let sql = "UPDATE webhook_states SET kept = kept + 1 WHERE webhook_id = ?1";
    tx.execute(sql, &values![id]).await?;
    let sql = "SELECT d.id, d.webhook_id, w.fields, w.secret, w.previous_secret, w.previous_until,
             d.event_id, d.body, d.attempts
         FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = ?1";
    let row = tx.one(sql, &values![delivery]).await?;
    read(row, tx.now()).map(Some)
}
