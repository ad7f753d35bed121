//! What this node knows of its endpoints while it delivers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::id::WebhookId;

/// Shared by who makes deliveries and who makes the attempts.
#[derive(Default)]
pub(crate) struct Deliveries {
    /// Deliveries that wait, by endpoint, as far as this node knows. Other nodes change them, too:
    /// they are looked up again and again.
    waiting: Mutex<HashMap<WebhookId, u64>>,
    /// There may be a delivery to be attempted.
    pub(crate) due: Notify,
    /// An endpoint may have room again, or another configuration.
    pub(crate) room: Notify,
}

impl Deliveries {
    fn waiting(&self) -> MutexGuard<'_, HashMap<WebhookId, u64>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what is known by what is stored.
    pub(crate) fn know(&self, waiting: HashMap<WebhookId, u64>) {
        *self.waiting() = waiting;
    }

    /// How many deliveries of an endpoint wait.
    pub(crate) fn of(&self, id: WebhookId) -> u64 {
        self.waiting().get(&id).copied().unwrap_or_default()
    }

    /// Deliveries of an endpoint were made.
    pub(crate) fn made(&self, id: WebhookId, many: u64) {
        *self.waiting().entry(id).or_default() += many;
    }

    /// Deliveries of an endpoint are done.
    pub(crate) fn done(&self, id: WebhookId) {
        if let Some(waiting) = self.waiting().get_mut(&id) {
            *waiting = waiting.saturating_sub(1);
        }
        self.room.notify_one();
    }
}
