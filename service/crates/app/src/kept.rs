//! A value in a cache of configuration, and whether it is still current.

use std::sync::Arc;

use storage::{Access, CachedPart};

/// A cached value, with the epoch of configuration under which it was read.
pub(crate) struct Kept<T> {
    pub(crate) epoch: u64,
    pub(crate) value: Arc<T>,
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
    pub(crate) fn is_current(&self, storage: &Access, part: CachedPart) -> bool {
        storage.is_current(part, self.epoch)
    }
}
