//! A value in a cache of configuration, and whether it is still current.

use std::sync::Arc;

use storage::{Access, CachedPart};

/// A cached value, with the epoch of configuration under which it was read.
pub(super) struct Kept<T> {
    pub(super) epoch: u64,
    pub(super) value: Arc<T>,
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self {
            epoch: self.epoch,
            value: Arc::clone(&self.value),
        }
    }
}

impl<T> Kept<T> {
    /// Whether this part of the configuration did not change since.
    pub(super) fn is_current(&self, storage: &Access, part: CachedPart) -> bool {
        let changed = storage.changed_at(part);
        changed.is_some_and(|changed| changed <= self.epoch)
    }
}
