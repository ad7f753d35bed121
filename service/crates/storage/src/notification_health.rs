//! Whether messages of notifications arrive, for operators.

use domain::clock::Millis;

/// The messages that recipients still have to get.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationBacklog {
    /// Deliveries that wait for their next attempt.
    pub waiting: u64,
    /// The age of the oldest message that waits for a recipient.
    pub late: Millis,
    /// Deliveries that were given up within seven days.
    pub given_up: u64,
}

/// Notifications that somebody has to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotificationTrouble {
    /// Notifications with a message that waits for longer than an hour, or with a recipient whose
    /// last message within seven days was given up.
    pub failing: u64,
    /// Notifications that are off because the database was restored or moved.
    pub restored: u64,
    /// Whether a notification that is on goes by mail, and there is no mail server.
    pub lacks_server: bool,
}
