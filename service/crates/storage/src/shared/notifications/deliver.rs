//! Attempts: which delivery is due, who attempts it, and how it ended.

use crate::shared::{Query, Transaction};
use crate::value::{Row, Value, values};
use crate::{ClaimedMessage, DeliveryEnd, JoinedMail, Lane, StorageError, Tried};
use domain::clock::Timestamp;
use domain::notification::{LEASE, Message};

/// Messages removed in one transaction, for which taps wait.
const PRUNED_AT_ONCE: usize = 100;

/// The condition for deliveries `d` of a lane that wait. It is that of the lane's index.
pub(super) const fn waits_in(lane: Lane) -> &'static str {
    match lane {
        Lane::Mail => "d.waits AND d.recipient <> ''",
        Lane::Chat => "d.waits AND d.recipient = ''",
    }
}

pub(super) async fn is_due(
    db: &mut dyn Query,
    lane: Lane,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let waits = waits_in(lane);
    let sql = format!(
        "SELECT 1 FROM notification_deliveries d WHERE {waits} AND d.next_at <= ?1 LIMIT 1"
    );
    db.exists(&sql, &values![now]).await
}

pub(super) async fn claim(
    tx: &mut dyn Transaction,
    lane: Lane,
    limit: usize,
) -> Result<Vec<ClaimedMessage>, StorageError> {
    let now = tx.now();
    let waits = waits_in(lane);
    let sql = format!(
        "SELECT d.id, d.notification_id, d.message_id, m.at, d.recipient, n.chat, m.subject, m.text,
             m.html, m.chart, d.attempts + 1, m.alerts, n.fields
         FROM notification_deliveries d
             JOIN notification_messages m ON m.id = d.message_id
             JOIN notifications n ON n.id = d.notification_id
         WHERE {waits} AND d.next_at <= ?1 ORDER BY d.next_at, d.id LIMIT ?2"
    );
    let found = tx.query(&sql, &values![now, Value::limit(limit)]).await?;
    let mut claimed: Vec<ClaimedMessage> = Vec::new();
    for row in found {
        let mut one = read(row)?;
        let mut joined = claimed.iter().flat_map(|earlier| &earlier.joined);
        if joined.any(|mail| mail.delivery == one.delivery) {
            continue;
        }
        one.joined = joined_to(tx, &one, now).await?;
        claimed.push(one);
    }
    let leased = claimed.iter().flat_map(|one| {
        let joined = one.joined.iter().map(|mail| mail.delivery);
        joined.chain([one.delivery])
    });
    let leased = Value::list(leased);
    let sql = "UPDATE notification_deliveries
         SET attempts = attempts + 1, next_at = ?2, may_have_gone = TRUE WHERE id IN ids(?1)";
    tx.execute(sql, &values![leased, now.plus(LEASE)]).await?;
    Ok(claimed)
}

fn read(mut row: Row) -> Result<ClaimedMessage, StorageError> {
    Ok(ClaimedMessage {
        delivery: row.take()?,
        notification: row.take()?,
        message_id: row.take()?,
        at: row.take()?,
        recipient: row.take()?,
        chat: row.take()?,
        message: Message {
            subject: row.take()?,
            text: row.take()?,
            html: row.take()?,
            chart: row.take()?,
        },
        attempt: row.take()?,
        alerts: row.json("message")?,
        fields: row.json("notification")?,
        joined: Vec::new(),
    })
}

/// The mails with alerts that waited for the same recipient as `one`, which is such a mail: a mailbox
/// that was full for days gets a digest, and a server one attempt. A mail's first attempt is its own,
/// so that only mails that failed before wait together. There is at most one for each hour of five
/// days.
async fn joined_to(
    tx: &mut dyn Transaction,
    one: &ClaimedMessage,
    now: Timestamp,
) -> Result<Vec<JoinedMail>, StorageError> {
    if one.recipient.is_empty() || one.alerts.is_empty() || one.attempt == 1 {
        return Ok(Vec::new());
    }
    let sql = "SELECT d.id, d.message_id, m.at, d.attempts + 1, m.alerts
         FROM notification_deliveries d JOIN notification_messages m ON m.id = d.message_id
         WHERE d.notification_id = ?1 AND d.waits AND d.recipient = ?2 AND d.id <> ?3
             AND d.attempts > 0 AND (d.next_at <= ?4 OR NOT d.may_have_gone)
             AND m.alerts <> '[]'
         ORDER BY d.id";
    let values = values![one.notification, &one.recipient, one.delivery, now];
    let found = tx.query(sql, &values).await?;
    let joined = found.into_iter().map(|mut row| {
        Ok(JoinedMail {
            delivery: row.take()?,
            message_id: row.take()?,
            at: row.take()?,
            attempt: row.take()?,
            alerts: row.json("message")?,
        })
    });
    joined.collect()
}

pub(super) async fn finish(tx: &mut dyn Transaction, tried: &[Tried]) -> Result<(), StorageError> {
    for one in tried {
        finish_one(tx, one).await?;
    }
    Ok(())
}

async fn finish_one(tx: &mut dyn Transaction, tried: &Tried) -> Result<(), StorageError> {
    let (waits, unsure, next_at, error) = match &tried.end {
        DeliveryEnd::Delivered => (false, false, Timestamp::default(), None),
        DeliveryEnd::Again { at, error, unsure } => (true, *unsure, *at, Some(error)),
        DeliveryEnd::GivenUp(error) => (false, false, Timestamp::default(), Some(error)),
    };
    let sql = "UPDATE notification_deliveries SET waits = ?2, may_have_gone = ?3, next_at = ?4,
             tried_at = ?5, error = ?6
         WHERE id = ?1 AND waits AND attempts = ?7";
    let values = values![
        tried.delivery,
        waits,
        unsure,
        next_at,
        tried.at,
        error,
        tried.attempt
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Makes mails that wait due at once, because the mail server is another one. Those that may have
/// gone keep their hour.
pub(in crate::shared) async fn wake_mails(tx: &mut dyn Transaction) -> Result<(), StorageError> {
    let sql = "UPDATE notification_deliveries SET next_at = ?1
         WHERE waits AND NOT may_have_gone AND recipient <> '' AND next_at > ?1";
    tx.execute(sql, &values![tx.now()]).await.map(drop)
}

/// Messages older than `keep_since` without a waiting delivery, and those of deleted notifications.
pub(super) async fn old(
    db: &mut dyn Query,
    keep_since: Timestamp,
) -> Result<Vec<i64>, StorageError> {
    let values = values![keep_since, Value::limit(PRUNED_AT_ONCE)];
    let sql = "SELECT m.id FROM notification_messages m WHERE m.at < ?1 AND NOT EXISTS
             (SELECT 1 FROM notification_deliveries d WHERE d.message_id = m.id AND d.waits)
         LIMIT ?2";
    let mut found = db.query(sql, &values).await?;
    if found.is_empty() {
        // Two statements, because each has an index of its own.
        let sql = "SELECT m.id FROM notification_messages m
             WHERE m.notification_id NOT IN (SELECT id FROM notifications) LIMIT ?1";
        found = db.query(sql, &values[1..]).await?;
    }
    found.into_iter().map(|mut row| row.take()).collect()
}

pub(super) async fn forget(tx: &mut dyn Transaction, messages: &[i64]) -> Result<(), StorageError> {
    let messages = Value::list(messages);
    let sql = "DELETE FROM notification_deliveries WHERE message_id IN ids(?1)";
    tx.execute(sql, std::slice::from_ref(&messages)).await?;
    let sql = "DELETE FROM notification_messages WHERE id IN ids(?1)";
    tx.execute(sql, &[messages]).await.map(drop)
}
