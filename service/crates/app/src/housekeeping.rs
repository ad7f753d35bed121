//! Recurring work. Expired keys, old visitors and old interactions are removed, so that nothing
//! grows without limit. Imports that a crash interrupted are finished. Alerts are raised. Webhooks
//! and notifications are delivered. Taps are counted for reports. Scheduled backups are made.
//! Settings are read again, so that all nodes of a database use the same ones. After a start, tags
//! are read into memory.

mod alerts;

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;

use crate::backup;
use crate::notifications;
use crate::outage::Outage;
use crate::service::Service;
use crate::webhook_delivery::{self, raise};
use domain::clock::{Millis, Timestamp};
use domain::webhook::{Alert, EventKind};
use storage::panics;
use storage::{StorageError, finish_import};

pub use alerts::raise_alerts;

/// Pause between two rounds of removal.
const PAUSE: Duration = Duration::from_secs(10);
/// Pause between two rounds of counting for reports. Each report itself reads the taps that came
/// since the last round.
const COUNT: Duration = Duration::from_secs(5);
/// The pause if there is more to count.
const NEXT: Duration = Duration::from_millis(20);
/// How long events of the outbox are kept. An endpoint that is off for longer
/// misses them.
const OUTBOX_KEPT: Millis = Millis::days(30);
/// How long messages of notifications are kept, with the results of their deliveries.
const MESSAGES_KEPT: Millis = Millis::days(30);
/// By how much longer hourly counts are kept than interactions: the longest hourly
/// report has 1,000 hours, and as many before them to compare with.
const HOURS_LONGER: Millis = Millis::hours(2_000);
/// Unlisted chips that are kept for each URL template, the newest: as many as the tags that a
/// service is made for. They take about 150 MB.
const UNLISTED_KEPT: usize = 1_000_000;
/// Pause between two checks whether the settings changed.
const LOOK: Duration = Duration::from_secs(1);

/// Runs all recurring work until it is dropped, which may happen at any time.
pub async fn run(service: &Service) -> Infallible {
    let panicked = || service.metrics.task_panic();
    tokio::select! {
        never = panics::restarted(panicked, || follow(service)) => never,
        never = panics::restarted(panicked, || remove(service)) => never,
        never = panics::restarted(panicked, || alerts::run(service)) => never,
        never = panics::restarted(panicked, || fill(service)) => never,
        never = panics::restarted(panicked, || count(service)) => never,
        never = panics::restarted(panicked, || back_up(service)) => never,
        never = webhook_delivery::run(service) => never,
        never = notifications::run(service) => never,
    }
}

/// Reads tags into memory before their first taps, once.
async fn fill(service: &Service) -> Infallible {
    if let Err(error) = service.tags.fill().await {
        tracing::debug!("tags are read at their taps: {error}");
    }
    std::future::pending().await
}

/// Makes the backups that are due.
async fn back_up(service: &Service) -> Infallible {
    loop {
        if let Err(error) = backup::run_due(service).await {
            tracing::warn!("scheduled backups have to wait: {error}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Follows the settings that another node stores, also while no request comes in.
async fn follow(service: &Service) -> Infallible {
    loop {
        tokio::time::sleep(LOOK).await;
        service.follow_settings().await;
    }
}

/// Counts recorded taps for reports.
async fn count(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    loop {
        let more = service.storage.fold_reports().await;
        if let Err(error) = &more {
            if outage.begins() {
                tracing::warn!("counting for reports has to wait: {error}");
            }
        } else {
            outage.ends();
        }
        if let Err(error) = service.note_previews().await {
            // They stay in memory until the next round.
            tracing::debug!("previews could not be noted: {error}");
        }
        // Taps get their turn between two rounds, and most rounds find no more to count.
        let pause = if more.unwrap_or_default() {
            NEXT
        } else {
            COUNT
        };
        tokio::time::sleep(pause).await;
    }
}

async fn remove(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    loop {
        let outcome = sweep(service).await;
        if let Err(error) = &outcome {
            service.metrics.housekeeping_failure();
            if outage.begins() {
                tracing::warn!("housekeeping has to wait: {error}");
            }
        } else if outage.ends() {
            let alert = Alert::new(
                EventKind::AlertWriterFailed,
                "The database did not take writes for a while. It does again.",
                json!({}),
            );
            // The alert failed too, and there is nothing more to do about it.
            let _ = raise(service, alert).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Removes stored webhook events, sent or not, when the taps or submissions in them are removed
/// because of their age.
async fn forget_old_events(service: &Service, now: Timestamp) -> Result<(), StorageError> {
    let (taps, submissions) = {
        let settings = service.settings();
        (settings.retention_months, settings.submission_months)
    };
    let (taps, submissions) = (now.minus_months(taps), now.minus_months(submissions));
    let kinds = EventKind::ALL.iter().map(|(kind, _)| *kind);
    let (of_submissions, others): (Vec<_>, Vec<_>) =
        kinds.partition(|kind| *kind == EventKind::SubmissionCreated);
    for (kinds, keep_since) in [(of_submissions, submissions), (others, taps)] {
        let storage = &service.storage;
        while storage.prune_deliveries(kinds.clone(), keep_since).await? {
            tokio::task::yield_now().await;
        }
    }
    let keep_since = now.minus(OUTBOX_KEPT).max(taps);
    service.storage.sweep_outbox(keep_since).await
}

/// Removes all expired data, in rounds between which other work gets its turn.
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
    forget_old_events(service, now).await?;
    service.storage.follow_clock().await?;
    while service.storage.give_up_mails().await? {
        tokio::task::yield_now().await;
    }
    while service
        .storage
        .prune_messages(now.minus(MESSAGES_KEPT))
        .await?
    {
        tokio::task::yield_now().await;
    }
    let keep_since = now.minus_months(service.settings().retention_months);
    while service.storage.prune_own_reads(keep_since).await? {
        tokio::task::yield_now().await;
    }
    let keep_since = keep_since.minus(HOURS_LONGER);
    while service.storage.prune_report_hours(keep_since).await? {
        tokio::task::yield_now().await;
    }
    while service.storage.prune_unlisted_chips(UNLISTED_KEPT).await? {
        tokio::task::yield_now().await;
    }
    service.storage.forget_deleted().await?;
    // Comes last, because it may take long and must not delay the removal of expired data.
    for (import, decided) in service.storage.abandoned_imports().await? {
        finish_import(&service.storage, import, decided).await?;
    }
    Ok(())
}
