//! From events to deliveries.

use std::collections::{HashMap, HashSet};

use crate::id::{InteractionId, TagId, WebhookId};
use crate::storage::StorageError;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::{Query, Transaction};
use crate::storage::value::{Value, values};
use crate::storage::webhooks::{Advance, Cursor, EventProperties, NewDelivery, Place, RouteState};
use crate::tag::PropertyClass;
use crate::webhook::WebhookFields;

pub(super) async fn states(db: &mut dyn Query) -> Result<Vec<RouteState>, StorageError> {
    let sql = "SELECT webhook_id, tap_seq, tap_id, outbox_seq, outbox_id, again_seq, resends, waiting, failures
         FROM webhook_states WHERE enabled ORDER BY webhook_id";
    let found = db.query(sql, &[]).await?;
    let states = found.into_iter().map(|mut row| {
        Ok(RouteState {
            id: row.take()?,
            cursor: Cursor {
                taps: Place {
                    seq: row.take()?,
                    id: row.take()?,
                },
                outbox: Place {
                    seq: row.take()?,
                    id: row.take()?,
                },
            },
            again_seq: row.take()?,
            resends: row.take()?,
            waiting: row.take()?,
            failures: row.take()?,
        })
    });
    states.collect()
}

pub(super) async fn fields(
    db: &mut dyn Query,
) -> Result<HashMap<WebhookId, WebhookFields>, StorageError> {
    let sql = "SELECT w.id, w.fields FROM webhooks w JOIN webhook_states s ON s.webhook_id = w.id
         WHERE s.enabled";
    let found = db.query(sql, &[]).await?;
    let fields = found
        .into_iter()
        .map(|mut row| Ok((row.take()?, row.json("webhook")?)));
    fields.collect()
}

pub(super) async fn properties(
    db: &mut dyn Query,
    tags: &[TagId],
) -> Result<HashMap<TagId, EventProperties>, StorageError> {
    let sql = "SELECT tag_id, class, key, value FROM properties WHERE tag_id IN ids(?1)";
    let mut found: HashMap<TagId, EventProperties> = HashMap::new();
    for mut row in db.query(sql, &[Value::list(tags)]).await? {
        let properties = found.entry(row.take()?).or_default();
        let class: String = row.take()?;
        let map = if class == PropertyClass::Attribute.as_str() {
            &mut properties.attributes
        } else if class == PropertyClass::Variable.as_str() {
            &mut properties.variables
        } else {
            continue;
        };
        map.insert(row.take()?, row.take()?);
    }
    Ok(found)
}

pub(super) async fn advance(
    tx: &mut dyn Transaction,
    advance: &Advance,
) -> Result<Vec<WebhookId>, StorageError> {
    let Advance { from, to, .. } = advance;
    let sql = "UPDATE webhook_states SET tap_seq = ?2, tap_id = ?3, outbox_seq = ?4, outbox_id = ?5
         WHERE webhook_id IN ids(?1) AND enabled AND tap_seq = ?6 AND tap_id = ?7 AND outbox_seq = ?8 AND outbox_id = ?9
         RETURNING webhook_id";
    let values = values![
        Value::list(&advance.webhooks),
        to.taps.seq,
        to.taps.id,
        to.outbox.seq,
        to.outbox.id,
        from.taps.seq,
        from.taps.id,
        from.outbox.seq,
        from.outbox.id,
    ];
    let moved = tx.query(sql, &values).await?;
    let moved = moved.into_iter().map(|mut row| row.take());
    let moved: HashSet<WebhookId> = moved.collect::<Result<_, _>>()?;
    let mut made: HashMap<WebhookId, u64> = HashMap::new();
    for delivery in &advance.deliveries {
        if moved.contains(&delivery.webhook_id) && deliver(tx, delivery).await? {
            *made.entry(delivery.webhook_id).or_default() += 1;
        }
    }
    for (webhook, made) in made {
        let sql = "UPDATE webhook_states SET waiting = waiting + ?2,
                 next_at = CASE WHEN waiting = 0 OR next_at > ?3 THEN ?3 ELSE next_at END
             WHERE webhook_id = ?1";
        tx.execute(sql, &values![webhook, made, tx.now()]).await?;
    }
    Ok(moved.into_iter().collect())
}

/// Stores a delivery; `false` if the event waits already. One that is sent again is the one that
/// was sent, if it is kept.
async fn deliver(tx: &mut dyn Transaction, new: &NewDelivery) -> Result<bool, StorageError> {
    let mut event_id = &new.event_id;
    if let Some(again) = &new.again {
        let sql =
            "SELECT id, waits FROM webhook_deliveries WHERE webhook_id = ?1 AND event_id = ?2";
        if let Some(mut kept) = tx.row(sql, &values![new.webhook_id, event_id]).await? {
            let id: i64 = kept.take()?;
            if kept.take()? {
                return Ok(false);
            }
            return wait_again(tx, new.webhook_id, id).await.map(|()| true);
        }
        event_id = again;
    }
    let sql = "INSERT INTO webhook_deliveries (webhook_id, event_id, type, at, tag_id, body, waits, attempts, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, TRUE, 0, ?7) ON CONFLICT (webhook_id, event_id) DO NOTHING";
    let values = values![
        new.webhook_id,
        event_id,
        new.kind.as_str(),
        new.at,
        new.tag_id,
        &new.body,
        tx.now(),
    ];
    Ok(tx.execute(sql, &values).await? > 0)
}

/// A delivery that was done waits again. Who calls counts it among those that wait.
pub(super) async fn wait_again(
    tx: &mut dyn Transaction,
    webhook: WebhookId,
    delivery: i64,
) -> Result<(), StorageError> {
    let sql =
        "UPDATE webhook_deliveries SET waits = TRUE, attempts = 0, next_at = ?2 WHERE id = ?1";
    tx.execute(sql, &values![delivery, tx.now()]).await?;
    let sql = "UPDATE webhook_states SET kept = kept - 1 WHERE webhook_id = ?1";
    tx.execute(sql, &values![webhook]).await.map(drop)
}

/// Transactions of PostgreSQL that may have committed after one of a higher number, and were told
/// after it.
const DISORDER: i64 = 64;

pub(super) async fn place_of_tap(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<Place>, StorageError> {
    let sql = match db.dialect() {
        // Ids are in the order of commits.
        Dialect::Sqlite => "SELECT id FROM interactions WHERE id = ?1",
        Dialect::Postgres => "SELECT seq FROM interactions WHERE id = ?1 AND seq > 0",
    };
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(None);
    };
    let seq: i64 = row.take()?;
    Ok(Some(match db.dialect() {
        Dialect::Sqlite => Place { seq, id: 0 },
        Dialect::Postgres => Place {
            seq: seq - DISORDER,
            id: id.0,
        },
    }))
}
