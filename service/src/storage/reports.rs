//! Counts of taps, from which reports are made.

use async_trait::async_trait;

use super::StorageError;
use crate::clock::Timestamp;
use crate::report::{Report, ReportRange};

/// The operations on counts of taps.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Counts some of what came since the last time. `true` if there is more.
    async fn fold_reports(&self) -> Result<bool, StorageError>;

    /// What taps came to, those included that are not counted yet.
    async fn report(&self, range: ReportRange) -> Result<Report, StorageError>;

    /// Removes some of the counts by the hour of before `keep_since`; those by the day stay.
    /// `true` if more may be left.
    async fn prune_report_hours(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}
