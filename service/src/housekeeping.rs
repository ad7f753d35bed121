//! What is done from time to time. So that nothing grows without an end, expired
//! keys, old visitors and old interactions are removed.
//! Imports that a crash broke off are taken to their end.
//! Webhooks are delivered.
//! So that all nodes of a database do the same, settings are looked at again. After a start,
//! tags are read into memory.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;

use crate::deliver;
use crate::panics;
use crate::service::Service;
use crate::storage::{StorageError, finish_import};
use crate::webhook::{Alert, EventKind};

/// Between two rounds of removal.
const PAUSE: Duration = Duration::from_secs(10);
/// How long events of the outbox are kept, in milliseconds: an endpoint that is off for longer
/// misses them.
const OUTBOX_KEPT: i64 = 30 * 24 * 60 * 60 * 1000;
/// Between two looks at whether configuration was changed.
const LOOK: Duration = Duration::from_millis(250);

/// Keeps house until it is dropped, which it may be at any time.
pub async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || follow(service)) => never,
        never = panics::restarted(panicked, || remove(service)) => never,
        never = panics::restarted(panicked, || fill(service)) => never,
        never = deliver::run(service) => never,
    }
}

/// Reads tags into memory ahead of their taps, once.
async fn fill(service: &Service) -> Infallible {
    if let Err(error) = service.tags.fill().await {
        tracing::debug!("tags are read at their taps: {error}");
    }
    std::future::pending().await
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
        if failing && outcome.is_ok() {
            let alert = Alert::new(
                EventKind::AlertWriterFailed,
                "The database did not take writes for a while. It does again.",
                json!({}),
            );
            // Whoever gets it can do nothing more about it.
            let _ = service.storage.raise_alert(alert).await;
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
    let keep_since = now.minus_months(service.settings().audit_months);
    while service.storage.prune_audit(keep_since).await? {
        tokio::task::yield_now().await;
    }
    let keep_since = now.minus_months(service.settings().submission_months);
    while service.storage.prune_submissions(keep_since).await? {
        tokio::task::yield_now().await;
    }
    for uid in service.guesses.take_reached() {
        let alert = Alert::new(
            EventKind::AlertInlayGuessed,
            "Too many wrong codes came for an inlay: its codes are not checked for an hour.",
            json!({"uid": uid}),
        );
        service.storage.raise_alert(alert).await?;
    }
    for (tag_id, counter) in service.copies.take_reached() {
        let mut alert = Alert::new(
            EventKind::AlertCopiedUrl,
            "A one-time URL is opened again and again: it was copied. Its taps are not verified.",
            json!({"tag_id": tag_id, "counter": counter}),
        );
        alert.about.tag_id = Some(tag_id);
        service.storage.raise_alert(alert).await?;
    }
    service
        .storage
        .sweep_outbox(now.plus_millis(-OUTBOX_KEPT))
        .await?;
    // Last: it may take long, and what is due must not wait for it.
    for (import, decided) in service.storage.abandoned_imports().await? {
        finish_import(&*service.storage, import, decided).await?;
    }
    Ok(())
}
