//! An owner's changes to a notification.

use super::{find, has_state, json};
use crate::shared::audit::shown;
use crate::shared::dialect::Dialect;
use crate::shared::{Transaction, groups};
use crate::value::{Value, unreadable, values};
use crate::{Conflict, Invalid, Notification, NotificationEdit, SealedNotification, StorageError};
use domain::audit::Note;
use domain::field_error::FieldError;
use domain::id::NotificationId;
use domain::notification::{NOTIFICATIONS_MAX, NotificationFields};
use domain::revision::Precondition;

pub(super) async fn insert(
    tx: &mut dyn Transaction,
    new: &SealedNotification,
) -> Result<Notification, StorageError> {
    check_group(tx, &new.fields).await?;
    let sql = "INSERT INTO notifications (fields, chat, created_at) SELECT ?1, ?2, ?3
         WHERE (SELECT count(*) FROM notifications) < ?4 RETURNING id";
    let values = values![
        json(&new.fields)?,
        new.chat.as_ref(),
        tx.now(),
        NOTIFICATIONS_MAX,
    ];
    let Some(mut inserted) = tx.write(sql, &values).await?.pop() else {
        return Err(Conflict::TooManyNotifications.into());
    };
    let id: NotificationId = inserted.take()?;
    if new.fields.enabled {
        begin(tx, id, &new.fields).await?;
    }
    tx.note(Note::created(
        format!("notifications/{id}"),
        &shown::notification(&new.fields),
    ));
    stored(tx, id).await
}

async fn stored(
    tx: &mut dyn Transaction,
    id: NotificationId,
) -> Result<Notification, StorageError> {
    let stored = find(tx, id).await?;
    stored.ok_or_else(|| unreadable("notification"))
}

async fn check_group(
    tx: &mut dyn Transaction,
    fields: &NotificationFields,
) -> Result<(), StorageError> {
    match fields.group_id {
        Some(group) => groups::existing(tx, group).await.map(drop),
        None => Ok(()),
    }
}

/// Creates the state of a notification: it counts alerts from now on, and reports the period that
/// is not over yet.
async fn begin(
    tx: &mut dyn Transaction,
    id: NotificationId,
    fields: &NotificationFields,
) -> Result<(), StorageError> {
    let place = match tx.dialect() {
        Dialect::Sqlite => "(SELECT coalesce(max(id), 0) FROM outbox)",
        // As for webhooks: alerts from before this transaction have a lower number.
        Dialect::Postgres => "pg_current_xact_id()::TEXT::BIGINT",
    };
    let sql = format!(
        "INSERT INTO notification_states (notification_id, outbox_seq, outbox_id, next_at, reported_until)
         SELECT ?1, {place}, 0, 0, ?2"
    );
    let values = values![id, fields.reported_until(tx.now())];
    tx.execute(&sql, &values).await.map(drop)
}

/// Removes the state of a notification, and everything that waits for it. Results of deliveries stay
/// as long as those of others: they may be many, and taps wait for this transaction.
async fn forget(tx: &mut dyn Transaction, id: NotificationId) -> Result<(), StorageError> {
    for sql in [
        "DELETE FROM notification_states WHERE notification_id = ?1",
        "DELETE FROM notification_alerts WHERE notification_id = ?1",
        "DELETE FROM notification_deliveries WHERE notification_id = ?1 AND waits",
    ] {
        tx.execute(sql, &values![id]).await?;
    }
    Ok(())
}

pub(super) async fn edit(
    tx: &mut dyn Transaction,
    id: NotificationId,
    edit: &NotificationEdit,
    expected: &Precondition,
) -> Result<Option<Notification>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    expected.check(Some(&before))?;
    let after = edit(before.sealed.clone())?;
    if after == before.sealed {
        return Ok(Some(before));
    }
    let (old, new) = (&before.sealed.fields, &after.fields);
    if new.kind != old.kind {
        let why = "The kind of a notification does not change. Create another one for that.";
        return Err(Invalid::Edit(FieldError::of("kind", why)).into());
    }
    if new.group_id != old.group_id {
        check_group(tx, new).await?;
    }
    tx.note(shown::notification_change(&before.sealed, &after));
    let sql = "UPDATE notifications SET fields = ?2, chat = ?3 WHERE id = ?1";
    // It stays one that a restore switched off, until somebody switches it on.
    let stays = NotificationFields {
        enabled: new.enabled || before.restored,
        ..new.clone()
    };
    let values = values![id, json(&stays)?, after.chat.as_ref()];
    tx.execute(sql, &values).await?;
    match (has_state(tx, id).await?, new.enabled) {
        (false, true) => {
            // A restored notification begins like a new one: the original may still send.
            forget(tx, id).await?;
            begin(tx, id, new).await?;
        }
        (true, false) => forget(tx, id).await?,
        (true, true) => narrow(tx, id, &before.sealed, &after).await?,
        (false, false) => {}
    }
    stored(tx, id).await.map(Some)
}

/// Drops alerts and messages that are no longer wanted, and begins another rhythm at once: the next
/// digest waits for no longer than the new one asks, and the next report is that of the period that
/// is not over yet.
async fn narrow(
    tx: &mut dyn Transaction,
    id: NotificationId,
    before: &SealedNotification,
    after: &SealedNotification,
) -> Result<(), StorageError> {
    let (old, new) = (&before.fields, &after.fields);
    let recipients = Value::list(new.channel.recipients());
    let sql = "DELETE FROM notification_deliveries
         WHERE notification_id = ?1 AND waits AND NOT recipient IN texts(?2)";
    tx.execute(sql, &values![id, recipients]).await?;
    let types = Value::list(new.events.iter().map(|kind| kind.as_str()));
    let sql =
        "DELETE FROM notification_alerts WHERE notification_id = ?1 AND NOT type IN texts(?2)";
    tx.execute(sql, &values![id, types]).await?;
    if after.chat != before.chat {
        // A message of the former chat must not appear in another one.
        let sql = "DELETE FROM notification_deliveries
             WHERE notification_id = ?1 AND waits AND recipient = ''";
        tx.execute(sql, &values![id]).await?;
    }
    if new.group_id != old.group_id {
        // The alerts that were counted are of tags of the former group.
        let sql = "DELETE FROM notification_alerts WHERE notification_id = ?1";
        tx.execute(sql, &values![id]).await?;
    }
    if new.every != old.every {
        let sql = "UPDATE notification_states SET next_at = ?2
             WHERE notification_id = ?1 AND next_at > ?2";
        let next_at = tx.now().plus(new.digest_after());
        tx.execute(sql, &values![id, next_at]).await?;
    }
    if !new.is_due_like(old) {
        let sql = "UPDATE notification_states SET reported_until = ?2 WHERE notification_id = ?1";
        let until = new.reported_until(tx.now());
        tx.execute(sql, &values![id, until]).await?;
    }
    Ok(())
}

pub(super) async fn delete(
    tx: &mut dyn Transaction,
    id: NotificationId,
) -> Result<Option<()>, StorageError> {
    let Some(before) = find(tx, id).await? else {
        return Ok(None);
    };
    tx.note(Note::deleted(&shown::notification(&before.sealed.fields)));
    let sql = "DELETE FROM notifications WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    forget(tx, id).await?;
    Ok(Some(()))
}
