//! What this node knows of its endpoints while it delivers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::id::WebhookId;

/// Shared by who makes deliveries and who makes the attempts.
#[derive(Default)]
pub(crate) struct Deliveries {
    /// Deliveries that are attempted soon, by endpoint, as far as this node knows. Other nodes
    /// change them, too: they are looked up again and again.
    soon: Mutex<HashMap<WebhookId, u64>>,
    /// There may be a delivery to be attempted.
    pub(crate) due: Notify,
    /// An endpoint may have room again, or another configuration.
    pub(crate) room: Notify,
}

impl Deliveries {
    fn soon(&self) -> MutexGuard<'_, HashMap<WebhookId, u64>> {
        self.soon.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what is known by what is stored.
    pub(crate) fn know(&self, soon: HashMap<WebhookId, u64>) {
        *self.soon() = soon;
    }

    /// How many deliveries of an endpoint are attempted soon.
    pub(crate) fn of(&self, id: WebhookId) -> u64 {
        self.soon().get(&id).copied().unwrap_or_default()
    }

    /// Deliveries of an endpoint were made.
    pub(crate) fn made(&self, id: WebhookId, many: u64) {
        *self.soon().entry(id).or_default() += many;
    }

    /// A delivery of an endpoint was attempted. Whether that is again soon, storage knows.
    pub(crate) fn attempted(&self, id: WebhookId) {
        if let Some(soon) = self.soon().get_mut(&id) {
            *soon = soon.saturating_sub(1);
        }
        self.room.notify_one();
    }
}
