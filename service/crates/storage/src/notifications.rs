//! The mail server, notifications, and their messages.

use super::Conflict;
use domain::clock::Timestamp;
use domain::id::NotificationId;
use domain::mail::MailFields;
use domain::notification::{AlertCount, Message, NotificationFields};
use domain::revision::{Revised, Revision};
use domain::webhook::CommitPosition;

/// The settings of the mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailServer {
    /// All settings but the password.
    pub fields: MailFields,
    /// The password, wrapped; `None` if the server asks for none.
    pub password: Option<Vec<u8>>,
}

impl Revised for MailServer {
    fn revision(&self) -> Revision {
        Revision::of(&(&self.fields, &self.password))
    }
}

/// The configuration of a notification, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedNotification {
    /// All members; of a chat's URL only the origin.
    pub fields: NotificationFields,
    /// The whole URL of a chat, wrapped; `None` for mail.
    pub chat: Option<Vec<u8>>,
}

impl Revised for SealedNotification {
    fn revision(&self) -> Revision {
        Revision::of(&(&self.fields, &self.chat))
    }
}

/// A notification, with the state of its messages.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Identifier of the notification.
    pub id: NotificationId,
    /// The configuration as it is stored.
    pub sealed: SealedNotification,
    /// Whether it is off because the database was restored or moved.
    pub restored: bool,
    /// Number of deliveries that wait for their next attempt.
    pub waiting: u64,
    /// When a message was last delivered to a recipient.
    pub last_sent_at: Option<Timestamp>,
    /// The last deliveries whose last attempt failed, the newest first.
    pub failures: Vec<DeliveryFailure>,
    /// When the notification was created.
    pub created_at: Timestamp,
}

impl Revised for Notification {
    fn revision(&self) -> Revision {
        self.sealed.revision()
    }
}

/// A delivery whose last attempt failed.
#[derive(Clone, Debug)]
pub struct DeliveryFailure {
    /// The mail address; empty for a chat.
    pub recipient: String,
    /// Time of the attempt.
    pub at: Timestamp,
    /// The reason, for people.
    pub error: String,
    /// Whether there is no further attempt.
    pub given_up: bool,
}

/// An edit of a notification, applied inside the operation that stores it. An `Err` stores nothing.
pub type NotificationEdit =
    Box<dyn Fn(SealedNotification) -> Result<SealedNotification, Conflict> + Send + Sync>;

/// A notification that is on, as the maker of messages needs it.
#[derive(Clone, Debug)]
pub struct NotificationState {
    /// Identifier of the notification.
    pub id: NotificationId,
    /// Its configuration; of a chat's URL only the origin.
    pub fields: NotificationFields,
    /// The revision of its configuration.
    pub revision: Revision,
    /// The last event of the outbox that was counted.
    pub outbox: CommitPosition,
    /// The earliest time of the next message about alerts.
    pub next_at: Timestamp,
    /// The end of the last period that was reported.
    pub reported_until: Timestamp,
    /// The alerts that no message contains yet.
    pub alerts: Vec<AlertCount>,
    /// The time of the newest message that waits and that no recipient got yet.
    pub held_since: Option<Timestamp>,
}

/// Alerts that were counted for a notification.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The notification. Nothing is counted if it is no longer at `from`, or was edited since.
    pub id: NotificationId,
    /// The revision that decided which alerts count.
    pub revision: Revision,
    /// Its place in the outbox before.
    pub from: CommitPosition,
    /// Its place in the outbox afterwards.
    pub to: CommitPosition,
    /// The alerts between both places.
    pub alerts: Vec<AlertCount>,
}

/// A message to store.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The notification. Nothing is stored if it was edited since `revision`.
    pub id: NotificationId,
    /// The revision that decided about the message.
    pub revision: Revision,
    /// The reason for the message, which no other message has.
    pub cause: MessageCause,
    /// The content for its channel.
    pub message: Message,
}

/// The reason for a message. If it no longer holds, another node was faster, and nothing is stored.
#[derive(Clone, Debug)]
pub enum MessageCause {
    /// These alerts, which the message contains. The next message comes at `next_at` or later.
    Alerts {
        /// All alerts that wait for a message.
        alerts: Vec<AlertCount>,
        /// The earliest time of the next message.
        next_at: Timestamp,
    },
    /// A period that is over.
    Period {
        /// The end of the last period that was reported before.
        reported_until: Timestamp,
        /// The end of the period that the message reports.
        until: Timestamp,
    },
}

/// A way of messages. Each has attempts of its own, so that a slow mail server delays no chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Mails, which all go to one mail server.
    Mail,
    /// Posts to chats, which are on servers of many owners.
    Chat,
}

impl Lane {
    /// Both lanes, for work that treats them alike.
    pub const ALL: [Self; 2] = [Self::Mail, Self::Chat];
}

/// A delivery that this caller may attempt, until its lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedMessage {
    /// The delivery's number, for [`Tried::delivery`].
    pub delivery: i64,
    /// The notification of the message.
    pub notification: NotificationId,
    /// The number of the message.
    pub message_id: i64,
    /// The time of the message.
    pub at: Timestamp,
    /// The mail address; empty for a chat.
    pub recipient: String,
    /// The URL of the chat, wrapped.
    pub chat: Option<Vec<u8>>,
    /// The content of the message.
    pub message: Message,
    /// Number of attempts with this one, for [`Tried::attempt`].
    pub attempt: u32,
    /// The alerts that the message contains; empty for a report.
    pub alerts: Vec<AlertCount>,
    /// The configuration of the notification; of a chat's URL only the origin.
    pub fields: NotificationFields,
    /// Other mails with alerts that the recipient did not get yet, for the same attempt.
    pub joined: Vec<JoinedMail>,
}

/// A delivery that is attempted together with another one to the same recipient, in one mail.
#[derive(Clone, Debug)]
pub struct JoinedMail {
    /// The delivery's number, for [`Tried::delivery`].
    pub delivery: i64,
    /// The number of the message.
    pub message_id: i64,
    /// The time of the message.
    pub at: Timestamp,
    /// Number of attempts with this one, for [`Tried::attempt`].
    pub attempt: u32,
    /// The alerts that the message contains.
    pub alerts: Vec<AlertCount>,
}

/// An attempt that ended, to be stored.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The delivery's number, from [`ClaimedMessage::delivery`].
    pub delivery: i64,
    /// The attempt's number, from [`ClaimedMessage::attempt`]. Nothing is stored if another attempt
    /// began after the lease of this one.
    pub attempt: u32,
    /// When the attempt ended.
    pub at: Timestamp,
    /// The result of the attempt.
    pub end: DeliveryEnd,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// The recipient's server took it.
    Delivered,
    /// It failed, and is repeated.
    Again {
        /// Time of the next attempt.
        at: Timestamp,
        /// The reason, for people.
        error: String,
        /// Whether the message may have arrived nevertheless.
        unsure: bool,
    },
    /// It failed, and is not repeated.
    GivenUp(String),
}
