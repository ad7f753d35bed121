//! Alerts that no message contains yet.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::TagId;
use crate::webhook::EventKind;

/// The alerts of one type since the last message. However many there are, they take one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertCount {
    /// Type of all these alerts.
    pub kind: EventKind,
    /// Number of the alerts.
    pub alerts: u64,
    /// Time of the first one.
    pub first_at: Timestamp,
    /// Time of the last one.
    pub last_at: Timestamp,
    /// The sentence of the last one.
    pub message: String,
    /// The tag of the last one; `None` without a tag.
    pub tag_id: Option<TagId>,
}

/// Adds an alert, or several later ones, to those of its type.
pub fn add_alert(counts: &mut Vec<AlertCount>, alert: AlertCount) {
    match counts.iter_mut().find(|count| count.kind == alert.kind) {
        Some(count) => {
            count.alerts += alert.alerts;
            count.last_at = alert.last_at;
            count.message = alert.message;
            count.tag_id = alert.tag_id;
        }
        None => counts.push(alert),
    }
}
