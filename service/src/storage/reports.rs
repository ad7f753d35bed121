//! Counts of taps, from which reports are made.

use async_trait::async_trait;

use super::StorageError;
use crate::report::{Report, ReportRange};

/// The operations on counts of taps.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Counts some of what came since the last time. `true` if there is more.
    async fn fold_reports(&self) -> Result<bool, StorageError>;

    /// What taps came to, those included that are not counted yet.
    async fn report(&self, range: ReportRange) -> Result<Report, StorageError>;
}
