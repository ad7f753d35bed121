//! Alerts become counts, and counts and periods become messages. Each step compares the state that it
//! was made from in its transaction, so that of several nodes one makes it.

use std::collections::HashMap;

use crate::shared::{Query, Transaction, insert_rows};
use crate::value::{Row, Value, values};
use crate::{
    Collected, MessageCause, NewMessage, NotificationState, SealedNotification, StorageError,
};
use domain::clock::Timestamp;
use domain::id::NotificationId;
use domain::notification::AlertCount;
use domain::revision::Revised as _;
use domain::webhook::{CommitPosition, EventKind};

const SELECT: &str =
    "SELECT n.id, n.fields, n.chat, s.outbox_seq, s.outbox_id, s.next_at, s.reported_until
    FROM notification_states s JOIN notifications n ON n.id = s.notification_id";

/// The newest message of each notification that waits and that no recipient got yet.
const HELD: &str = "SELECT d.notification_id, max(m.at)
    FROM notification_deliveries d JOIN notification_messages m ON m.id = d.message_id
    WHERE d.waits AND NOT EXISTS (SELECT 1 FROM notification_deliveries o
        WHERE o.message_id = d.message_id AND NOT o.waits AND o.error IS NULL)
    GROUP BY d.notification_id";

fn read(mut row: Row) -> Result<NotificationState, StorageError> {
    let id = row.take()?;
    let sealed = SealedNotification {
        fields: row.json("notification")?,
        chat: row.take()?,
    };
    Ok(NotificationState {
        id,
        revision: sealed.revision(),
        fields: sealed.fields,
        outbox: CommitPosition {
            seq: row.take()?,
            id: row.take()?,
        },
        next_at: row.take()?,
        reported_until: row.take()?,
        alerts: Vec::new(),
        held_since: None,
    })
}

const ALERTS: &str = "SELECT notification_id, type, alerts, first_at, last_at, message, tag_id
    FROM notification_alerts";

fn alert(row: &mut Row) -> Result<(NotificationId, AlertCount), StorageError> {
    Ok((
        row.take()?,
        AlertCount {
            kind: row.text("event type", EventKind::parse)?,
            alerts: row.take()?,
            first_at: row.take()?,
            last_at: row.take()?,
            message: row.take()?,
            tag_id: row.take()?,
        },
    ))
}

pub(super) async fn states(db: &mut dyn Query) -> Result<Vec<NotificationState>, StorageError> {
    let sql = format!("{SELECT} ORDER BY n.id");
    let found = db.query(&sql, &[]).await?.into_iter().map(read);
    let mut states: Vec<NotificationState> = found.collect::<Result<_, _>>()?;
    if states.is_empty() {
        return Ok(states);
    }
    let mut alerts: HashMap<NotificationId, Vec<AlertCount>> = HashMap::new();
    let sql = format!("{ALERTS} ORDER BY notification_id, first_at, type");
    for mut row in db.query(&sql, &[]).await? {
        let (id, count) = alert(&mut row)?;
        alerts.entry(id).or_default().push(count);
    }
    let mut held: HashMap<NotificationId, Timestamp> = HashMap::new();
    for mut row in db.query(HELD, &[]).await? {
        held.insert(row.take()?, row.take()?);
    }
    for state in &mut states {
        state.alerts = alerts.remove(&state.id).unwrap_or_default();
        state.held_since = held.remove(&state.id);
    }
    Ok(states)
}

/// The configuration and the places of one notification that is on. Its alerts and messages are not
/// read: taps wait for this transaction.
async fn state(
    tx: &mut dyn Transaction,
    id: NotificationId,
) -> Result<Option<NotificationState>, StorageError> {
    let sql = format!("{SELECT} WHERE n.id = ?1");
    tx.row(&sql, &values![id]).await?.map(read).transpose()
}

/// The alerts of one notification that no message contains yet.
async fn alerts(
    tx: &mut dyn Transaction,
    id: NotificationId,
) -> Result<Vec<AlertCount>, StorageError> {
    let sql = format!("{ALERTS} WHERE notification_id = ?1 ORDER BY first_at, type");
    let found = tx.query(&sql, &values![id]).await?.into_iter();
    found
        .map(|mut row| alert(&mut row).map(|(_, count)| count))
        .collect()
}

pub(super) async fn collect(
    tx: &mut dyn Transaction,
    collected: &Collected,
) -> Result<bool, StorageError> {
    let Some(state) = state(tx, collected.id).await? else {
        return Ok(false);
    };
    if (state.revision, state.outbox) != (collected.revision, collected.from) {
        return Ok(false);
    }
    let sql = "UPDATE notification_states SET outbox_seq = ?2, outbox_id = ?3
         WHERE notification_id = ?1";
    let values = values![collected.id, collected.to.seq, collected.to.id];
    tx.execute(sql, &values).await?;
    for count in &collected.alerts {
        let sql = "INSERT INTO notification_alerts
                 (notification_id, type, alerts, first_at, last_at, message, tag_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (notification_id, type) DO UPDATE SET
                 alerts = notification_alerts.alerts + excluded.alerts, last_at = excluded.last_at,
                 message = excluded.message, tag_id = excluded.tag_id";
        let values = values![
            collected.id,
            count.kind.as_str(),
            count.alerts,
            count.first_at,
            count.last_at,
            &count.message,
            count.tag_id,
        ];
        tx.execute(sql, &values).await?;
    }
    Ok(true)
}

pub(super) async fn message(
    tx: &mut dyn Transaction,
    new: &NewMessage,
) -> Result<bool, StorageError> {
    let Some(state) = state(tx, new.id).await? else {
        return Ok(false);
    };
    if state.revision != new.revision {
        return Ok(false);
    }
    match &new.cause {
        MessageCause::Alerts { alerts, next_at } => {
            if self::alerts(tx, new.id).await? != *alerts {
                return Ok(false);
            }
            let sql = "DELETE FROM notification_alerts WHERE notification_id = ?1";
            tx.execute(sql, &values![new.id]).await?;
            let sql = "UPDATE notification_states SET next_at = ?2 WHERE notification_id = ?1";
            tx.execute(sql, &values![new.id, *next_at]).await?;
        }
        MessageCause::Period {
            reported_until,
            until,
        } => {
            if state.reported_until != *reported_until {
                return Ok(false);
            }
            let sql =
                "UPDATE notification_states SET reported_until = ?2 WHERE notification_id = ?1";
            tx.execute(sql, &values![new.id, *until]).await?;
        }
    }
    let alerts = match &new.cause {
        MessageCause::Alerts { alerts, .. } => alerts.as_slice(),
        MessageCause::Period { .. } => &[],
    };
    let alerts = super::json(&alerts)?;
    let now = tx.now();
    let sql = "INSERT INTO notification_messages
             (notification_id, at, subject, text, html, chart, alerts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";
    let message = &new.message;
    let values = values![
        new.id,
        now,
        &message.subject,
        &message.text,
        &message.html,
        message.chart.as_ref(),
        alerts,
    ];
    let id: i64 = tx.write_one(sql, &values).await?.take()?;
    let rows = state.fields.channel.recipients().into_iter();
    let rows = rows.map(|recipient| {
        values![new.id, id, recipient.to_owned(), true, false, 0_u32, now].to_vec()
    });
    let rows: Vec<Vec<Value<'_>>> = rows.collect();
    insert_rows(tx, "notification_deliveries", &COLUMNS, rows, "").await?;
    Ok(true)
}

const COLUMNS: [&str; 7] = [
    "notification_id",
    "message_id",
    "recipient",
    "waits",
    "may_have_gone",
    "attempts",
    "next_at",
];
