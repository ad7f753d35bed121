//! State of a kiosk that runs in the same process as the service, as the desktop reports it.

use domain::clock::Timestamp;

/// State of a kiosk. It names no visitor and no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KioskState {
    /// Whether the page on its screen answers the desktop.
    pub has_screen: bool,
    /// Whether a reader is connected.
    pub has_reader: bool,
    /// Tags that opened an experience since midnight in UTC.
    pub visits_today: u64,
    /// When the last visit began; `None` before the first one.
    pub last_visit_at: Option<Timestamp>,
}
