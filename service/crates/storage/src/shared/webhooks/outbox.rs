//! Events other than taps: rows stored in the commit of the change that they report.

use serde_json::{Map, Value as Json};

use super::json;
use crate::StorageError;
use crate::shared::dialect::Dialect;
use crate::shared::{Query, Transaction, groups, submissions};
use crate::value::{Value, values};
use crate::webhooks::CommitPosition;
use domain::id::{SubmissionId, TagId};
use domain::interaction::Change;
use domain::webhook::{About, EventKind, OutboxEvent, TagUpdated, object};

/// Whether any endpoint gets events of a type. Endpoints that are off count, because they get the
/// events when they are switched on.
pub(crate) const WANTED: &str = "SELECT 1 FROM webhook_types WHERE type = ?1 LIMIT 1";
/// Whether anybody gets alerts of a type: an endpoint, or perhaps a notification. Alerts are rare, so
/// all are stored once there is a notification.
const ALERT_WANTED: &str = "SELECT 1 FROM webhook_types WHERE type = ?1
    UNION ALL SELECT 1 FROM notification_states LIMIT 1";
/// Stores an event in the outbox.
pub(crate) const INSERT: &str = "INSERT INTO outbox
        (at, type, tag_id, experience_id, simulated, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// Stores an event in the transaction of its change, if anybody gets events of its type.
pub(in crate::shared) async fn tell(
    tx: &mut dyn Transaction,
    kind: EventKind,
    about: About,
    data: Map<String, Json>,
) -> Result<(), StorageError> {
    let wanted = if kind.is_alert() {
        ALERT_WANTED
    } else {
        WANTED
    };
    if !tx.exists(wanted, &values![kind.as_str()]).await? {
        return Ok(());
    }
    store(tx, kind, about, &data).await
}

async fn store(
    tx: &mut dyn Transaction,
    kind: EventKind,
    about: About,
    data: &Map<String, Json>,
) -> Result<(), StorageError> {
    let values = values![
        tx.now(),
        kind.as_str(),
        about.tag_id,
        about.experience_id,
        about.simulated,
        json(data)?,
    ];
    tx.execute(INSERT, &values).await.map(drop)
}

/// Stores an event for each of these tags that the owner changed.
pub(in crate::shared) async fn tell_tags_updated(
    tx: &mut dyn Transaction,
    tags: &[TagId],
) -> Result<(), StorageError> {
    tell_updated(tx, tags, &[]).await
}

/// Stores an event about the owner's change of these variables of a tag.
pub(in crate::shared) async fn tell_tag_updated(
    tx: &mut dyn Transaction,
    tag: TagId,
    changes: &[Change],
) -> Result<(), StorageError> {
    tell_updated(tx, &[tag], changes).await
}

async fn tell_updated(
    tx: &mut dyn Transaction,
    tags: &[TagId],
    changes: &[Change],
) -> Result<(), StorageError> {
    let kind = EventKind::TagUpdated;
    if tags.is_empty() || !tx.exists(WANTED, &values![kind.as_str()]).await? {
        return Ok(());
    }
    let led_to = groups::led_to("");
    let sql = format!(
        "SELECT id, slug, name, {led_to}, simulated FROM tags WHERE id IN ids(?1) ORDER BY id"
    );
    for mut row in tx.query(&sql, &values![Value::list(tags)]).await? {
        let name = domain::interaction::TagName {
            tag_id: row.take()?,
            slug: row.take()?,
            tag_name: row.take()?,
        };
        let about = About {
            tag_id: Some(name.tag_id),
            experience_id: row.take()?,
            simulated: row.take()?,
        };
        let data = object(&TagUpdated {
            tag: name,
            interaction_id: None,
            changes: changes.to_vec(),
            simulated: about.simulated,
        });
        store(tx, kind, about, &data).await?;
    }
    Ok(())
}

pub(super) async fn after(
    db: &mut dyn Query,
    after: CommitPosition,
    limit: usize,
) -> Result<Vec<OutboxEvent>, StorageError> {
    // SQLite's writer commits the rows in the order of their ids.
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "SELECT id, 0, id, at, type, tag_id, experience_id, simulated, data FROM outbox
             WHERE id > ?1 AND id > ?2 ORDER BY id LIMIT ?3"
        }
        Dialect::Postgres => {
            "SELECT seq, id, id, at, type, tag_id, experience_id, simulated, data FROM outbox
             WHERE (seq, id) > (?1, ?2) AND seq < settled_before() ORDER BY seq, id LIMIT ?3"
        }
    };
    let found = db
        .query(sql, &values![after.seq, after.id, Value::limit(limit)])
        .await?;
    let events = found.into_iter().map(|mut row| {
        Ok::<_, StorageError>(OutboxEvent {
            place: CommitPosition {
                seq: row.take()?,
                id: row.take()?,
            },
            id: row.take()?,
            at: row.take()?,
            kind: row.text("event type", EventKind::parse)?,
            about: About {
                tag_id: row.take()?,
                experience_id: row.take()?,
                simulated: row.take()?,
            },
            data: Some(row.json("event")?),
        })
    });
    let mut events: Vec<OutboxEvent> = events.collect::<Result<_, _>>()?;
    let ids: Vec<_> = events.iter().filter_map(submission).collect();
    if ids.is_empty() {
        return Ok(events);
    }
    let submissions = submissions::of_ids(db, &ids).await?;
    for event in &mut events {
        if let Some(of) = submission(event) {
            let found = submissions.iter().find(|one| one.id == of);
            event.data = found.map(|one| {
                let mut data = object(one);
                // Only saved submissions have events, so this member is always empty.
                data.shift_remove("not_saved");
                data
            });
        }
    }
    Ok(events)
}

/// The submission of an event. The event's row contains only its id, so that erased data is in no
/// other place.
fn submission(event: &OutboxEvent) -> Option<SubmissionId> {
    let id = event.data.as_ref()?.get("submission_id")?.as_i64()?;
    SubmissionId::try_from(id)
        .ok()
        .filter(|_| event.kind == EventKind::SubmissionCreated)
}
