//! Notifications: their configuration, the alerts that they count, and their messages.

pub(crate) mod attention;
mod collect;
mod deliver;
mod edit;
mod times;

pub(super) use deliver::wake_mails;

use super::{Query, Transaction};
use crate::value::{Row, Value, unreadable, values};
use crate::{
    Access, ClaimedMessage, Collected, DeliveryFailure, Lane, NewMessage, Notification,
    NotificationEdit, NotificationState, SealedNotification, StorageError, Tried,
};
use domain::clock::Timestamp;
use domain::id::{GroupId, NotificationId};
use domain::notification::NotificationFields;
use domain::resource_kind::ResourceKind;
use domain::revision::Precondition;

/// The operations on notifications.
impl Access {
    /// At most `limit` notifications, the oldest first, after the notification `after`.
    pub async fn notifications(
        &self,
        after: Option<NotificationId>,
        limit: usize,
    ) -> Result<Vec<Notification>, StorageError> {
        self.read_snapshot("notifications", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// The notification with this id.
    pub async fn notification(
        &self,
        id: NotificationId,
    ) -> Result<Option<Notification>, StorageError> {
        self.read_snapshot("notification", id, |db, id| Box::pin(find(db, *id)))
            .await
    }

    /// Stores a new notification. If it is on, it begins with the next alert, or with the period
    /// that is not over yet.
    ///
    /// # Errors
    ///
    /// [`Conflict::TooManyNotifications`](crate::Conflict::TooManyNotifications), and
    /// [`Conflict::Missing`](crate::Conflict::Missing) if there is no such group.
    pub async fn insert_notification(
        &self,
        new: SealedNotification,
    ) -> Result<Notification, StorageError> {
        self.change("insert_notification", new, |tx, new| {
            Box::pin(edit::insert(tx, new))
        })
        .await
    }

    /// Applies `edit` to a notification that still matches `expected`. Switched off, it forgets its
    /// waiting alerts and messages; switched on, it begins at that moment. Alerts and messages of a
    /// former group, chat or recipient are not sent.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`](crate::Conflict::Changed) if it does not match, and
    /// [`Conflict::Missing`](crate::Conflict::Missing) if there is no such group.
    pub async fn edit_notification(
        &self,
        id: NotificationId,
        edit: NotificationEdit,
        expected: Precondition,
    ) -> Result<Option<Notification>, StorageError> {
        self.change(
            "edit_notification",
            (id, edit, expected),
            |tx, (id, edit, expected)| Box::pin(edit::edit(tx, *id, edit, expected)),
        )
        .await
    }

    /// Removes a notification, with everything that waits for it. [`Self::prune_messages`] removes
    /// its other messages.
    pub async fn delete_notification(
        &self,
        id: NotificationId,
    ) -> Result<Option<()>, StorageError> {
        self.change("delete_notification", id, |tx, id| {
            Box::pin(edit::delete(tx, *id))
        })
        .await
    }

    /// All notifications that are on.
    pub async fn notification_states(&self) -> Result<Vec<NotificationState>, StorageError> {
        self.read_snapshot("notification_states", (), |db, ()| {
            Box::pin(collect::states(db))
        })
        .await
    }

    /// Counts alerts for a notification, and moves it forward in the outbox. `false` if it was
    /// elsewhere or another one meanwhile.
    pub async fn collect_alerts(&self, collected: Collected) -> Result<bool, StorageError> {
        self.change("collect_alerts", collected, |tx, collected| {
            Box::pin(collect::collect(tx, collected))
        })
        .await
    }

    /// Stores a message with a delivery for each recipient. `false` if another node was faster, or
    /// if the notification changed.
    pub async fn store_message(&self, new: NewMessage) -> Result<bool, StorageError> {
        self.change("store_message", new, |tx, new| {
            Box::pin(collect::message(tx, new))
        })
        .await
    }

    /// Whether deliveries of a lane are due.
    pub async fn are_messages_due(&self, lane: Lane) -> Result<bool, StorageError> {
        let now = self.now().await?;
        self.read("messages_due", (lane, now), |db, (lane, now)| {
            Box::pin(deliver::is_due(db, *lane, *now))
        })
        .await
    }

    /// Claims at most `limit` due deliveries of a lane, each with the mails that join it. No other
    /// caller gets them before their lease ends.
    pub async fn claim_messages(
        &self,
        lane: Lane,
        limit: usize,
    ) -> Result<Vec<ClaimedMessage>, StorageError> {
        self.change("claim_messages", (lane, limit), |tx, (lane, limit)| {
            Box::pin(deliver::claim(tx, *lane, *limit))
        })
        .await
    }

    /// Stores the results of one attempt for each delivery that was in it.
    pub async fn finish_messages(&self, tried: Vec<Tried>) -> Result<(), StorageError> {
        self.change("finish_messages", tried, |tx, tried| {
            Box::pin(deliver::finish(tx, tried))
        })
        .await?;
        self.tell_changed(ResourceKind::Notifications, None);
        Ok(())
    }

    /// Replaces times of notifications that are ahead, because the clock went back since.
    pub async fn follow_clock(&self) -> Result<(), StorageError> {
        let now = self.now().await?;
        let ahead = self.run_read("times_ahead", now, |db, now| {
            Box::pin(times::are_ahead(db, *now))
        });
        if !ahead.await? {
            return Ok(());
        }
        self.run_change("follow_clock", (), |tx, ()| {
            Box::pin(times::follow_clock(tx))
        })
        .await
    }

    /// Gives up some mails that waited for longer than mails are attempted, because the mail server
    /// could not be used. `true` if more may be left.
    pub async fn give_up_mails(&self) -> Result<bool, StorageError> {
        let now = self.now().await?;
        let expired = self
            .run_read("mails_expired", now, |db, now| {
                Box::pin(times::expired(db, *now))
            })
            .await?;
        if expired.is_empty() {
            return Ok(false);
        }
        self.run_change("give_up_mails", expired, |tx, expired| {
            Box::pin(times::give_up(tx, expired))
        })
        .await?;
        self.tell_changed(ResourceKind::Notifications, None);
        Ok(true)
    }

    /// Removes some messages older than `keep_since`, and messages of deleted notifications. `true`
    /// if more may be left.
    pub async fn prune_messages(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        // Most rounds find none, and need no transaction.
        let old = self
            .run_read("messages_old", keep_since, |db, keep_since| {
                Box::pin(deliver::old(db, *keep_since))
            })
            .await?;
        if old.is_empty() {
            return Ok(false);
        }
        self.run_change("prune_messages", old, |tx, old| {
            Box::pin(deliver::forget(tx, old))
        })
        .await
        .map(|()| true)
    }
}

/// Failed deliveries that are shown, the newest: those of a message to all recipients.
const FAILURES_SHOWN: usize = 20;

const SELECT: &str = "SELECT n.id, n.fields, n.chat, n.created_at, s.notification_id IS NOT NULL,
        (SELECT count(*) FROM notification_deliveries d WHERE d.notification_id = n.id AND d.waits),
        (SELECT max(d.tried_at) FROM notification_deliveries d
            WHERE d.notification_id = n.id AND NOT d.waits AND d.error IS NULL)
    FROM notifications n LEFT JOIN notification_states s ON s.notification_id = n.id";

fn read(mut row: Row) -> Result<Notification, StorageError> {
    let id = row.take()?;
    let mut sealed = SealedNotification {
        fields: row.json("notification")?,
        chat: row.take()?,
    };
    let created_at = row.take()?;
    let is_on: bool = row.take()?;
    // A notification without a state was restored or moved.
    let restored = sealed.fields.enabled && !is_on;
    sealed.fields.enabled = is_on;
    Ok(Notification {
        id,
        sealed,
        restored,
        waiting: row.take()?,
        last_sent_at: row.take()?,
        failures: Vec::new(),
        created_at,
    })
}

async fn find(
    db: &mut dyn Query,
    id: NotificationId,
) -> Result<Option<Notification>, StorageError> {
    let sql = format!("{SELECT} WHERE n.id = ?1");
    let found = db.row(&sql, &values![id]).await?.map(read).transpose()?;
    let Some(mut found) = found else {
        return Ok(None);
    };
    found.failures = failures(db, id).await?;
    Ok(Some(found))
}

async fn list(
    db: &mut dyn Query,
    after: Option<NotificationId>,
    limit: usize,
) -> Result<Vec<Notification>, StorageError> {
    let sql = format!("{SELECT} WHERE n.id > ?1 ORDER BY n.id LIMIT ?2");
    let values = values![after.map_or(0, NotificationId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?.into_iter().map(read);
    let mut found: Vec<Notification> = found.collect::<Result<_, _>>()?;
    for notification in &mut found {
        notification.failures = failures(db, notification.id).await?;
    }
    Ok(found)
}

async fn failures(
    db: &mut dyn Query,
    id: NotificationId,
) -> Result<Vec<DeliveryFailure>, StorageError> {
    let sql = "SELECT recipient, tried_at, error, NOT waits FROM notification_deliveries
         WHERE notification_id = ?1 AND error IS NOT NULL AND tried_at IS NOT NULL
         ORDER BY tried_at DESC, id DESC LIMIT ?2";
    let found = db
        .query(sql, &values![id, Value::limit(FAILURES_SHOWN)])
        .await?;
    let found = found.into_iter().map(|mut row| {
        Ok(DeliveryFailure {
            recipient: row.take()?,
            at: row.take()?,
            error: row.take()?,
            given_up: row.take()?,
        })
    });
    found.collect()
}

/// Number of notifications that are limited to a group. There are few, and the group is in their JSON.
pub(super) async fn of_group(db: &mut dyn Query, group: GroupId) -> Result<u64, StorageError> {
    let mut number = 0;
    for mut row in db.query("SELECT fields FROM notifications", &[]).await? {
        let fields: NotificationFields = row.json("notification")?;
        number += u64::from(fields.group_id == Some(group));
    }
    Ok(number)
}

fn json(value: &impl serde::Serialize) -> Result<String, StorageError> {
    serde_json::to_string(value).map_err(|_| unreadable("notification"))
}

/// Whether the notification is on.
async fn has_state(tx: &mut dyn Transaction, id: NotificationId) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM notification_states WHERE notification_id = ?1";
    tx.exists(sql, &values![id]).await
}
