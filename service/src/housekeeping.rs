//! What is done from time to time, so that nothing grows without an end:
//! expired keys, old visitors and old interactions are removed, and refusals
//! forgotten.

use std::convert::Infallible;
use std::time::Duration;

use crate::service::Service;
use crate::storage::StorageError;

/// Between two times.
const PAUSE: Duration = Duration::from_secs(10);

/// Keeps house until it is dropped, which it may be at any time.
pub async fn run(service: &Service) -> Infallible {
    let mut failing = false;
    loop {
        let outcome = sweep(service).await;
        if let Err(error) = &outcome
            && !failing
        {
            tracing::warn!("housekeeping has to wait: {error}");
        }
        failing = outcome.is_err();
        tokio::time::sleep(PAUSE).await;
    }
}

/// Removes everything that is due, in rounds between which others get their turn.
pub async fn sweep(service: &Service) -> Result<(), StorageError> {
    service.refusals.sweep();
    let now = service.storage.now().await?;
    let keep_since = now.minus_months(service.settings().retention_months);
    while service.storage.sweep(keep_since).await? {
        tokio::task::yield_now().await;
    }
    Ok(())
}
