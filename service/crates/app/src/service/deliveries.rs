//! The state of endpoints that this node keeps in memory while it delivers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use domain::id::WebhookId;

/// Shared by the tasks that create deliveries and those that make attempts.
#[derive(Default)]
pub struct Deliveries {
    /// Number of deliveries that are due soon, by endpoint, as far as this node knows. Other nodes
    /// change them, too, so the numbers are read from the database repeatedly.
    soon: Mutex<HashMap<WebhookId, u64>>,
    /// Notified when a delivery may be due.
    pub(crate) due: Notify,
    /// Notified when an endpoint may have room again, or has changed.
    pub(crate) room: Notify,
}

impl Deliveries {
    fn soon(&self) -> MutexGuard<'_, HashMap<WebhookId, u64>> {
        self.soon.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the numbers by those of the database.
    pub(crate) fn know(&self, soon: HashMap<WebhookId, u64>) {
        *self.soon() = soon;
    }

    /// Number of deliveries of an endpoint that are due soon.
    pub fn of(&self, id: WebhookId) -> u64 {
        self.soon().get(&id).copied().unwrap_or_default()
    }

    /// Records that deliveries of an endpoint were created.
    pub fn made(&self, id: WebhookId, many: u64) {
        *self.soon().entry(id).or_default() += many;
    }

    /// Records an attempt. Only the database knows whether the delivery is due again soon.
    pub(crate) fn attempted(&self, id: WebhookId) {
        if let Some(soon) = self.soon().get_mut(&id) {
            *soon = soon.saturating_sub(1);
        }
        self.room.notify_one();
    }
}
