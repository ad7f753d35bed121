//! A value in a cache of configuration, and whether it is still current.

use std::sync::{Arc, PoisonError, RwLock};

use storage::{Access, CachedPart, StorageError};

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

/// The one cached value of a part of the configuration; empty at first.
pub(crate) struct Slot<T>(RwLock<Option<Kept<T>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Slot<T> {
    /// The value, if this part of the configuration did not change since it was read.
    pub(crate) fn current(&self, storage: &Access, part: CachedPart) -> Option<Arc<T>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref()?;
        let is_current = kept.is_current(storage, part);
        is_current.then(|| Arc::clone(&kept.value))
    }

    /// The value, from memory while it is current, and otherwise from `read`.
    pub(crate) async fn current_or<F>(
        &self,
        storage: &Access,
        part: CachedPart,
        read: impl FnOnce() -> F,
    ) -> Result<Arc<T>, StorageError>
    where
        F: Future<Output = Result<T, StorageError>>,
    {
        if let Some(value) = self.current(storage, part) {
            return Ok(value);
        }
        // The epoch is read first, so that a later change makes the entry invalid.
        let epoch = storage.configuration_epoch();
        let value = Arc::new(read().await?);
        self.keep(epoch, Arc::clone(&value));
        Ok(value)
    }

    /// Keeps a value that was read under `epoch`. Without one, it may be stale already.
    pub(crate) fn keep(&self, epoch: Option<u64>, value: Arc<T>) {
        if let Some(epoch) = epoch {
            let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
            *kept = Some(Kept { epoch, value });
        }
    }
}
