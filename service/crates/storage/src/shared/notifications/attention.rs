//! Messages that do not arrive: for metrics, the overview and `doctor`.

use std::collections::HashMap;

use crate::shared::Query;
use crate::value::{Row, values};
use crate::{Access, NotificationBacklog, NotificationTrouble, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::id::NotificationId;
use domain::notification::{Channel, NotificationFields};

/// Age from which a waiting message is late. A server that asks new senders to come back later has
/// taken it by then.
const LATE_AFTER: Millis = Millis::hours(1);
/// How long a refused recipient is shown, unless a later message arrives.
const SHOWN_FOR: Millis = Millis::days(7);

/// The operations on messages that do not arrive.
impl Access {
    /// The messages that recipients still have to get.
    pub async fn notification_backlog(&self) -> Result<NotificationBacklog, StorageError> {
        let now = self.now().await?;
        self.run_read("notification_backlog", now, |db, now| {
            Box::pin(backlog(db, *now))
        })
        .await
    }

    /// The notifications that somebody has to look at.
    pub async fn notification_trouble(&self) -> Result<NotificationTrouble, StorageError> {
        let now = self.now().await?;
        self.read_snapshot("notification_trouble", now, |db, now| {
            Box::pin(find(db, *now))
        })
        .await
    }
}

async fn backlog(db: &mut dyn Query, now: Timestamp) -> Result<NotificationBacklog, StorageError> {
    let sql = "SELECT count(*), min(m.at) FROM notification_deliveries d
             JOIN notification_messages m ON m.id = d.message_id
         WHERE d.waits";
    let mut row = db.one(sql, &[]).await?;
    let waiting = row.take()?;
    let oldest: Option<Timestamp> = row.take()?;
    let sql = "SELECT count(*) FROM notification_deliveries
         WHERE error IS NOT NULL AND NOT waits AND tried_at >= ?1";
    let mut row = db.one(sql, &values![refused_since(now)]).await?;
    Ok(NotificationBacklog {
        waiting,
        late: oldest.map_or(Millis::ZERO, |at| now.since(at).max(Millis::ZERO)),
        given_up: row.take()?,
    })
}

/// Each notification, with whether it is on, whether a message from before `?1` waits, and whether
/// there is a mail server.
pub(crate) const NOTIFICATIONS: &str = "SELECT n.id, n.fields, s.notification_id IS NOT NULL,
        EXISTS (SELECT 1 FROM notification_deliveries d
                    JOIN notification_messages m ON m.id = d.message_id
                WHERE d.notification_id = n.id AND d.waits AND m.at < ?1),
        EXISTS (SELECT 1 FROM mail)
    FROM notifications n LEFT JOIN notification_states s ON s.notification_id = n.id";

/// The recipients whose last message was given up, at `?1` or later.
pub(crate) const REFUSED: &str = "SELECT notification_id, recipient FROM notification_deliveries
    WHERE NOT waits AND tried_at >= ?1 AND notification_id IN (
        SELECT notification_id FROM notification_deliveries
        WHERE error IS NOT NULL AND NOT waits AND tried_at >= ?1)
    GROUP BY notification_id, recipient
    HAVING max(CASE WHEN error IS NOT NULL THEN tried_at END)
        > coalesce(max(CASE WHEN error IS NULL THEN tried_at END), 0)";

/// The parameter of [`NOTIFICATIONS`].
pub(crate) fn late_before(now: Timestamp) -> Timestamp {
    now.minus(LATE_AFTER)
}

/// The parameter of [`REFUSED`].
pub(crate) fn refused_since(now: Timestamp) -> Timestamp {
    now.minus(SHOWN_FOR)
}

async fn find(db: &mut dyn Query, now: Timestamp) -> Result<NotificationTrouble, StorageError> {
    let notifications = db.query(NOTIFICATIONS, &values![late_before(now)]).await?;
    let refused = db.query(REFUSED, &values![refused_since(now)]).await?;
    trouble(notifications, refused)
}

/// The trouble from the rows of [`NOTIFICATIONS`] and [`REFUSED`].
pub(crate) fn trouble(
    notifications: Vec<Row>,
    refused: Vec<Row>,
) -> Result<NotificationTrouble, StorageError> {
    let mut refused_of: HashMap<NotificationId, Vec<String>> = HashMap::new();
    for mut row in refused {
        let id = row.take()?;
        refused_of.entry(id).or_default().push(row.take()?);
    }
    let mut trouble = NotificationTrouble::default();
    for mut row in notifications {
        let id = row.take()?;
        let fields: NotificationFields = row.json("notification")?;
        let (is_on, is_late): (bool, bool) = (row.take()?, row.take()?);
        let has_server: bool = row.take()?;
        let recipients = fields.channel.recipients();
        // A recipient that was taken away needs nothing any more.
        let refused = refused_of.remove(&id).unwrap_or_default();
        let is_refused = refused
            .iter()
            .any(|recipient| recipients.contains(&recipient.as_str()));
        trouble.failing += u64::from(is_on && (is_late || is_refused));
        trouble.restored += u64::from(fields.enabled && !is_on);
        let is_mail = matches!(fields.channel, Channel::Mail(_));
        trouble.lacks_server |= is_on && is_mail && !has_server;
    }
    Ok(trouble)
}
