//! Notifications: alerts and reports for people, by mail or to a chat.
//!
//! An alert is an event of the outbox, as webhooks get it. Alerts are counted by type until a
//! message takes them: the first one at once, later ones in digests. A report is due when its day or
//! week is over. A message has one delivery for each recipient, with attempts of its own.

mod alerts;
mod channel;
mod fields;
mod message;
mod retry;

pub use alerts::{AlertCount, add_alert};
pub use channel::Channel;
pub use fields::{NOTIFICATIONS_MAX, NotificationFields, NotificationKind};
pub use message::Message;
pub use retry::{GIVEN_UP_AFTER, LEASE, NEXT_MAX, RETRY_UNSURE, SendFailure, next_attempt};
