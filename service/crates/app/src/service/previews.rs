//! Previews that programs requested. They are counted in memory, and stored in the database now and
//! then. So a program that opens a link many times writes nothing to the disk, and a crash loses
//! only some seconds of a count.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Service;
use domain::report::{CountSpan, ReportRange};
use domain::world::World;
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
    /// Counts a link preview, which is no tap.
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

    /// The [previews](Self::previews) in each hour of a report and of the period before. `None` if they
    /// are not known, because a preview belongs to no group, experience or tag.
    pub async fn report_previews(
        &self,
        range: &ReportRange,
    ) -> Result<Option<BTreeMap<i64, u64>>, StorageError> {
        let is_limited = range.experience.is_some()
            || range.group.is_some()
            || range.tag.is_some()
            || self.storage.is_limited();
        if is_limited {
            return Ok(None);
        }
        // Previews of simulated tags are not counted.
        if range.world == World::Simulated {
            return Ok(Some(BTreeMap::new()));
        }
        let (first, end) = (range.buckets.before(), range.buckets.end());
        self.previews(first, end).await.map(Some)
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
