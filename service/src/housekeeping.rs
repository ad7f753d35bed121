//! What is done from time to time. So that nothing grows without an end, expired
//! keys, old visitors and old interactions are removed.
//! Imports that a crash broke off are taken to their end.
//! So that all nodes of a database do the same, settings are looked at again.

use std::convert::Infallible;
use std::time::Duration;

use crate::panics;
use crate::service::Service;
use crate::storage::{StorageError, finish_import};

/// Between two rounds of removal.
const PAUSE: Duration = Duration::from_secs(10);
/// Between two looks at whether configuration was changed.
const LOOK: Duration = Duration::from_millis(250);

/// Keeps house until it is dropped, which it may be at any time.
pub async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || follow(service)) => never,
        never = panics::restarted(panicked, || remove(service)) => never,
    }
}

/// Takes over the settings that another node stores.
async fn follow(service: &Service) -> Infallible {
    let mut known = service.storage.configuration_epoch();
    loop {
        tokio::time::sleep(LOOK).await;
        let epoch = service.storage.configuration_epoch();
        if epoch != known && service.follow_settings().await.is_ok() {
            known = epoch;
        }
    }
}

async fn remove(service: &Service) -> Infallible {
    let mut failing = false;
    loop {
        let outcome = sweep(service).await;
        if let Err(error) = &outcome {
            service.metrics.housekeeping_failure();
            if !failing {
                tracing::warn!("housekeeping has to wait: {error}");
            }
        }
        failing = outcome.is_err();
        tokio::time::sleep(PAUSE).await;
    }
}

/// Removes everything that is due, in rounds between which others get their turn.
pub async fn sweep(service: &Service) -> Result<(), StorageError> {
    let now = service.storage.now().await?;
    let keep_since = now.minus_months(service.settings().retention_months);
    loop {
        let swept = service.storage.sweep(keep_since).await?;
        service.metrics.swept(&swept);
        if !swept.more {
            break;
        }
        tokio::task::yield_now().await;
    }
    // Last: it may take long, and what is due must not wait for it.
    for (import, decided) in service.storage.abandoned_imports().await? {
        finish_import(&*service.storage, import, decided).await?;
    }
    Ok(())
}
