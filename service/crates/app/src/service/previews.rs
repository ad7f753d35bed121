//! Previews that programs requested. They are counted in memory, and stored in the database now and
//! then. So a program that opens a link many times writes nothing to the disk, and a crash loses
//! only some seconds of a count.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Service;
use domain::report::CountSpan;
use storage::StorageError;

/// Counts that are not stored yet, by the number of their hour.
#[derive(Debug, Default)]
pub(crate) struct Previews(Mutex<BTreeMap<i64, u64>>);

impl Previews {
    fn hours(&self) -> MutexGuard<'_, BTreeMap<i64, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, hour: i64, previews: u64) {
        *self.hours().entry(hour).or_default() += previews;
    }
}

impl Service {
    /// Counts one preview.
    pub fn count_preview(&self) {
        self.metrics.preview();
        self.previews.add(CountSpan::Hour.of(self.clock.now()), 1);
    }

    /// Stores this node's counts in the database.
    pub async fn note_previews(&self) -> Result<(), StorageError> {
        let hours = std::mem::take(&mut *self.previews.hours());
        let mut hours = hours.into_iter();
        while let Some((hour, previews)) = hours.next() {
            if let Err(error) = self.storage.note_previews(hour, previews).await {
                self.previews.add(hour, previews);
                for (hour, previews) in hours {
                    self.previews.add(hour, previews);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// How many previews programs requested in each hour from `first` up to, but not including, `end`.
    pub async fn previews(&self, first: i64, end: i64) -> Result<BTreeMap<i64, u64>, StorageError> {
        // Other nodes store theirs every few seconds. If the disk is full, counts stay in memory.
        if let Err(error) = self.note_previews().await {
            tracing::debug!("previews could not be noted: {error}");
        }
        let mut hours = self.storage.previews(first, end).await?;
        for (hour, previews) in self.previews.hours().range(first..end) {
            *hours.entry(*hour).or_default() += previews;
        }
        Ok(hours)
    }
}
