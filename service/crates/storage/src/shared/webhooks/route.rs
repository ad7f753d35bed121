//! Turns events into deliveries.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::interactions::row_of;
use crate::shared::dialect::Dialect;
use crate::shared::{Query, Transaction, groups, insert_rows};
use crate::value::{Row, Value, values};
use crate::webhooks::{
    Advance, CommitPosition, Cursor, EventProperties, Move, NewDelivery, RouteFields, RouteState,
    SOON,
};
use crate::{StorageError, erasure};
use domain::clock::Timestamp;
use domain::id::{InteractionId, TagId, WebhookId};
use domain::revision::Revision;
use domain::scope::Reach;
use domain::tag::PropertyClass;
use domain::webhook::WebhookFields;

pub(super) async fn states(
    db: &mut dyn Query,
    now: Timestamp,
) -> Result<Vec<RouteState>, StorageError> {
    let sql =
        "SELECT webhook_id, tap_seq, tap_id, outbox_seq, outbox_id, again_seq, again_outbox_seq,
             resends, waiting, failures,
             CASE WHEN waiting = 0 THEN 0 ELSE (SELECT count(*) FROM webhook_deliveries d
                 WHERE d.webhook_id = s.webhook_id AND d.waits AND d.next_at <= ?1) END
         FROM webhook_states s WHERE enabled ORDER BY webhook_id";
    let soon = now.plus(SOON);
    let found = db.query(sql, &values![soon]).await?;
    let states = found.into_iter().map(|mut row| {
        Ok(RouteState {
            id: row.take()?,
            cursor: cursor(&mut row)?,
            again_seq: row.take()?,
            again_outbox_seq: row.take()?,
            resends: row.take()?,
            waiting: row.take()?,
            failures: row.take()?,
            soon: row.take()?,
        })
    });
    states.collect()
}

pub(super) async fn fields(
    db: &mut dyn Query,
) -> Result<HashMap<WebhookId, RouteFields>, StorageError> {
    let sql = "SELECT w.id, w.fields, w.experience_ids
         FROM webhooks w JOIN webhook_states s ON s.webhook_id = w.id WHERE s.enabled";
    let found = db.query(sql, &[]).await?;
    let fields = found.into_iter().map(|mut row| {
        let id = row.take()?;
        let fields: WebhookFields = row.json("webhook")?;
        let limit = row.optional_text("experience", |json| serde_json::from_str(json).ok())?;
        let fields = RouteFields {
            revision: Revision::of(&fields),
            fields,
            reach: Reach::of(limit.as_ref()),
        };
        Ok((id, fields))
    });
    fields.collect()
}

pub(super) async fn erasures(db: &mut dyn Query) -> Result<u64, StorageError> {
    let found = db.row(erasure::ERASURES, &[]).await?;
    found.map_or(Ok(0), |mut row| row.take())
}

pub(super) async fn properties(
    db: &mut dyn Query,
    tags: &[TagId],
) -> Result<HashMap<TagId, EventProperties>, StorageError> {
    let led_to = groups::led_to("");
    let sql = format!("SELECT id, {led_to}, group_id FROM tags WHERE id IN ids(?1)");
    let mut found: HashMap<TagId, EventProperties> = HashMap::new();
    let mut lineages = groups::Lineages::default();
    for mut row in db.query(&sql, &[Value::list(tags)]).await? {
        let properties = found.entry(row.take()?).or_default();
        properties.experience_id = row.take()?;
        let Some(lineage) = lineages.of(db, row.take()?).await? else {
            continue;
        };
        properties.groups = lineage.groups().map(|group| group.id).collect();
        // The tag's own attributes replace them below.
        let given = lineage.properties(PropertyClass::Attribute);
        let given = given.map(|(key, given)| (key.to_string(), given.value.to_owned()));
        properties.attributes = given.collect();
    }
    // Erased values are not sent to any endpoint, even if the owner keeps them.
    let sql =
        "SELECT tag_id, class, key, value FROM properties WHERE tag_id IN ids(?1) AND NOT erased";
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
    if !advance.deliveries.is_empty() && erasures(tx).await? != advance.erasures {
        return Ok(Vec::new());
    }
    let moved = move_on(tx, &advance.moves).await?;
    let wanted = advance.deliveries.iter();
    let (again, new): (Vec<_>, Vec<_>) = wanted
        .filter(|delivery| moved.contains(&delivery.webhook_id))
        .partition(|delivery| delivery.again.is_some());
    let mut made: HashMap<WebhookId, u64> = HashMap::new();
    for webhook in insert(tx, new).await? {
        *made.entry(webhook).or_default() += 1;
    }
    for delivery in again {
        if deliver_again(tx, delivery).await? {
            *made.entry(delivery.webhook_id).or_default() += 1;
        }
    }
    // Endpoints of the same event often get equally many deliveries: one statement updates all of
    // them.
    let mut by_number: BTreeMap<u64, Vec<WebhookId>> = BTreeMap::new();
    for (webhook, many) in made {
        by_number.entry(many).or_default().push(webhook);
    }
    for (many, webhooks) in by_number {
        let sql = "UPDATE webhook_states SET waiting = waiting + ?2,
                 next_at = CASE WHEN waiting = 0 OR next_at > ?3 THEN ?3 ELSE next_at END
             WHERE webhook_id IN ids(?1)";
        let values = values![Value::list(webhooks), many, tx.now()];
        tx.execute(sql, &values).await?;
    }
    Ok(moved.into_iter().collect())
}

/// Moves the endpoints that are on and still in the expected state and revision; returns them.
async fn move_on(
    tx: &mut dyn Transaction,
    moves: &[Move],
) -> Result<HashSet<WebhookId>, StorageError> {
    let sql = "SELECT s.webhook_id, w.fields, s.tap_seq, s.tap_id, s.outbox_seq, s.outbox_id
         FROM webhook_states s JOIN webhooks w ON w.id = s.webhook_id
         WHERE s.webhook_id IN ids(?1) AND s.enabled";
    let asked = Value::list(moves.iter().map(|one| one.webhook));
    let mut found: HashMap<WebhookId, (Revision, Cursor)> = HashMap::new();
    for mut row in tx.query(sql, &[asked]).await? {
        let id = row.take()?;
        let fields: WebhookFields = row.json("webhook")?;
        found.insert(id, (Revision::of(&fields), cursor(&mut row)?));
    }
    let mut advanced = HashSet::new();
    let mut by_place: BTreeMap<Cursor, Vec<WebhookId>> = BTreeMap::new();
    for one in moves {
        let as_known = found.get(&one.webhook) == Some(&(one.revision, one.from));
        if as_known && advanced.insert(one.webhook) {
            by_place.entry(one.to).or_default().push(one.webhook);
        }
    }
    for (to, webhooks) in by_place {
        let sql =
            "UPDATE webhook_states SET tap_seq = ?2, tap_id = ?3, outbox_seq = ?4, outbox_id = ?5
             WHERE webhook_id IN ids(?1)";
        let values = values![
            Value::list(webhooks),
            to.taps.seq,
            to.taps.id,
            to.outbox.seq,
            to.outbox.id,
        ];
        tx.execute(sql, &values).await?;
    }
    Ok(advanced)
}

fn cursor(row: &mut Row) -> Result<Cursor, StorageError> {
    Ok(Cursor {
        taps: CommitPosition {
            seq: row.take()?,
            id: row.take()?,
        },
        outbox: CommitPosition {
            seq: row.take()?,
            id: row.take()?,
        },
    })
}

const COLUMNS: [&str; 9] = [
    "webhook_id",
    "event_id",
    "type",
    "at",
    "tag_id",
    "body",
    "waits",
    "attempts",
    "next_at",
];

/// Stores deliveries of events; returns the endpoint of each that did not exist already.
async fn insert(
    tx: &mut dyn Transaction,
    new: Vec<&NewDelivery>,
) -> Result<Vec<WebhookId>, StorageError> {
    let now = tx.now();
    let rows = new.into_iter().map(|new| {
        // A delivery that may have been sent before has a new id.
        let event_id = new.again.as_ref().unwrap_or(&new.event_id);
        values![
            new.webhook_id,
            event_id,
            new.kind.as_str(),
            new.at,
            // Stored as in the interaction's row, so that erasing taps without a tag finds it.
            new.tag_id
                .map(TagId::get)
                .or(new.kind.is_tap().then(|| row_of(None))),
            &new.body,
            true,
            0_u32,
            now,
        ]
        .to_vec()
    });
    let then = "ON CONFLICT (webhook_id, event_id) DO NOTHING RETURNING webhook_id";
    let stored = insert_rows(tx, "webhook_deliveries", &COLUMNS, rows.collect(), then).await?;
    stored.into_iter().map(|mut row| row.take()).collect()
}

/// Makes an event wait that may have been sent before: with its stored delivery if that is kept,
/// otherwise as a new delivery. `false` if it waits already.
async fn deliver_again(tx: &mut dyn Transaction, new: &NewDelivery) -> Result<bool, StorageError> {
    let sql = "SELECT id, waits FROM webhook_deliveries WHERE webhook_id = ?1 AND event_id = ?2";
    if let Some(mut kept) = tx.row(sql, &values![new.webhook_id, &new.event_id]).await? {
        let id: i64 = kept.take()?;
        if kept.take()? {
            return Ok(false);
        }
        return wait_again(tx, new.webhook_id, id).await.map(|()| true);
    }
    Ok(!insert(tx, vec![new]).await?.is_empty())
}

/// Makes a finished delivery wait again. The caller adds it to the number of waiting deliveries.
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

/// How many transactions of PostgreSQL may commit after one with a higher number, and be visible
/// after it.
const DISORDER: i64 = 64;

pub(super) async fn place_of_tap(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<CommitPosition>, StorageError> {
    let sql = match db.dialect() {
        // Ids follow the order of commits.
        Dialect::Sqlite => "SELECT id FROM interactions WHERE id = ?1",
        Dialect::Postgres => "SELECT seq FROM interactions WHERE id = ?1 AND seq > 0",
    };
    let Some(mut row) = db.row(sql, &values![id]).await? else {
        return Ok(None);
    };
    let seq: i64 = row.take()?;
    Ok(Some(match db.dialect() {
        Dialect::Sqlite => CommitPosition { seq, id: 0 },
        Dialect::Postgres => CommitPosition {
            seq: seq - DISORDER,
            id: id.get(),
        },
    }))
}
