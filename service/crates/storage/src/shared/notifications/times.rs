//! Times that fit no longer: those of a clock that went back since, and those of mails that nobody
//! attempts because the mail server cannot be used.

use super::deliver::waits_in;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use crate::{Lane, StorageError};
use domain::clock::Timestamp;
use domain::id::NotificationId;
use domain::notification::{GIVEN_UP_AFTER, NEXT_MAX, NotificationFields, RETRY_UNSURE};

/// Mails given up in one transaction, for which taps wait.
const GIVEN_UP_AT_ONCE: usize = 1_000;
/// The failure of a mail that was never attempted.
const NOT_TRIED: &str = "The mail server could not be used for five days.";

/// Whether times are stored that are too far ahead of `now`.
pub(super) async fn are_ahead(db: &mut dyn Query, now: Timestamp) -> Result<bool, StorageError> {
    for lane in Lane::ALL {
        let waits = waits_in(lane);
        let sql = format!(
            "SELECT 1 FROM notification_deliveries d WHERE {waits} AND d.next_at > ?1 LIMIT 1"
        );
        if db.exists(&sql, &values![now.plus(NEXT_MAX)]).await? {
            return Ok(true);
        }
    }
    let sql = "SELECT 1 FROM notification_states WHERE reported_until > ?1 LIMIT 1";
    db.exists(sql, &values![now]).await
}

/// Replaces the times that are ahead. A delivery may be one that was attempted just now, so it gets
/// the pause after an unknown end. Reports begin with the period that is not over yet.
pub(super) async fn follow_clock(tx: &mut dyn Transaction) -> Result<(), StorageError> {
    let now = tx.now();
    let sql = "UPDATE notification_deliveries SET next_at = ?1 WHERE waits AND next_at > ?2";
    let values = values![now.plus(RETRY_UNSURE), now.plus(NEXT_MAX)];
    tx.execute(sql, &values).await?;
    let sql = "SELECT n.id, n.fields FROM notification_states s
             JOIN notifications n ON n.id = s.notification_id
         WHERE s.reported_until > ?1";
    for mut row in tx.query(sql, &values![now]).await? {
        let id: NotificationId = row.take()?;
        let fields: NotificationFields = row.json("notification")?;
        let sql = "UPDATE notification_states SET reported_until = ?2 WHERE notification_id = ?1";
        tx.execute(sql, &values![id, fields.reported_until(now)])
            .await?;
    }
    Ok(())
}

/// Some due mails that are older than mails are attempted. An hour is added, in which each mail that
/// is attempted at all has its last attempt.
pub(super) async fn expired(db: &mut dyn Query, now: Timestamp) -> Result<Vec<i64>, StorageError> {
    let waits = waits_in(Lane::Mail);
    let sql = format!(
        "SELECT d.id FROM notification_deliveries d
             JOIN notification_messages m ON m.id = d.message_id
         WHERE {waits} AND d.next_at <= ?1 AND m.at < ?2 LIMIT ?3"
    );
    let since = now.minus(GIVEN_UP_AFTER + RETRY_UNSURE);
    let values = values![now, since, Value::limit(GIVEN_UP_AT_ONCE)];
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

/// Gives up those of these mails that are not being attempted. Their failure is of this moment.
pub(super) async fn give_up(tx: &mut dyn Transaction, mails: &[i64]) -> Result<(), StorageError> {
    let sql = "UPDATE notification_deliveries SET waits = FALSE, may_have_gone = FALSE,
             tried_at = ?2, error = coalesce(error, ?3)
         WHERE id IN ids(?1) AND waits AND next_at <= ?2";
    let values = values![Value::list(mails), tx.now(), NOT_TRIED];
    tx.execute(sql, &values).await.map(drop)
}
