//! Counts of taps, from which reports are made.

use async_trait::async_trait;

use super::StorageError;
use domain::clock::Timestamp;
use domain::report::{Report, ReportRange};

/// The operations on counts of taps.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Adds some of the new taps to the counts. `true` if more are left.
    async fn fold_reports(&self) -> Result<bool, StorageError>;

    /// A report of the taps of a period, including taps that are not counted yet.
    async fn report(&self, range: ReportRange) -> Result<Report, StorageError>;

    /// Adds `previews` that programs fetched in an hour; `hour` is its number since 1970.
    async fn note_previews(&self, hour: i64, previews: u64) -> Result<(), StorageError>;

    /// How many previews programs fetched, from the hour of `since` to the hour of the moment
    /// before `until`. Previews that are not stored yet are missing.
    async fn previews(&self, since: Timestamp, until: Timestamp) -> Result<u64, StorageError>;

    /// Removes some hourly counts older than `keep_since`; daily counts stay. `true` if more may be
    /// left.
    async fn prune_report_hours(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}
