//! Alerts about taps and about the disk. They have their own rounds: no removal of old data delays
//! them, and none that fails holds them back.

use std::convert::Infallible;
use std::future::ready;
use std::hash::Hash;
use std::iter;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::outage::Outage;
use crate::service::{Service, Tally};
use crate::webhook_delivery::raise;
use domain::id::TagId;
use domain::webhook::{Alert, EventKind};
use inlay::Uid;
use storage::StorageError;

/// Pause between two rounds. Most find nothing in memory and look at the disk only.
const PAUSE: Duration = Duration::from_secs(2);

/// Raises alerts until the future is dropped, which may happen at any time.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    loop {
        if let Err(error) = raise_alerts(service).await {
            if outage.begins() {
                service.metrics.housekeeping_failure();
                tracing::warn!("alerts have to wait: {error}");
            }
        } else {
            outage.ends();
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Raises the alerts that are due: for chips that got too many wrong codes, for one-time URLs that
/// were copied, and for a disk with little room. Each kind is tried, even if another one fails.
///
/// # Errors
///
/// If an alert cannot be stored. The next call raises it.
pub async fn raise_alerts(service: &Service) -> Result<(), StorageError> {
    // No alert is raised for chips that do not exist.
    service.guesses_at_nobody.take_reached();
    let guesses = raise_reached(service, &service.guesses, |uid| guessed(service, uid)).await;
    let copies = raise_reached(service, &service.copies, |code| ready(Ok(copied(code)))).await;
    let disk = look_at_disk(service).await;
    guesses.and(copies).and(disk)
}

/// Raises an alert once when disk space becomes low. It is raised again only after free space was a
/// quarter above the limit, so that space around the limit does not raise it repeatedly.
async fn look_at_disk(service: &Service) -> Result<(), StorageError> {
    let limit = u64::from(service.settings().disk_low_mebibytes) << 20;
    let Some(free) = service.storage.free_space() else {
        return Ok(());
    };
    let is_low = free < limit;
    if is_low && !service.disk_low.swap(true, Ordering::Relaxed) {
        let mebibytes = free >> 20;
        let message = format!(
            "The disk of the database has {mebibytes} MiB left. When it is full, taps are redirected without a \
             key and nothing is saved: make room, or keep interactions for a shorter time."
        );
        tracing::warn!("{message}");
        let data = json!({"free_mebibytes": mebibytes, "limit_mebibytes": limit >> 20});
        let raised = raise(service, Alert::new(EventKind::AlertDiskLow, &message, data)).await;
        if raised.is_err() {
            // The alert could not be stored, so the next round raises it again.
            service.disk_low.store(false, Ordering::Relaxed);
        }
        return raised;
    }
    if free >= limit.saturating_add(limit / 4) {
        service.disk_low.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// Raises an alert for each key of a tally that reached the limit. An alert that cannot be made or
/// stored is raised again in the next round.
async fn raise_reached<K, F>(
    service: &Service,
    tally: &Tally<K>,
    alert: impl Fn(K) -> F,
) -> Result<(), StorageError>
where
    K: Copy + Eq + Hash,
    F: Future<Output = Result<Alert, StorageError>>,
{
    let mut reached = tally.take_reached().into_iter();
    while let Some(key) = reached.next() {
        let raised = match alert(key).await {
            Ok(alert) => raise(service, alert).await,
            Err(error) => Err(error),
        };
        if let Err(error) = raised {
            tally.put_back(iter::once(key).chain(reached));
            return Err(error);
        }
    }
    Ok(())
}

/// The alert about a chip that got too many wrong codes.
async fn guessed(service: &Service, uid: Uid) -> Result<Alert, StorageError> {
    let inlay = service.storage.chip_state(uid).await?.inlay;
    let tag_id = inlay.as_ref().and_then(|inlay| inlay.fields.tag_id);
    let mut alert = Alert::new(
        EventKind::AlertInlayGuessed,
        "Too many wrong codes came for an inlay: its codes are not checked for an hour.",
        json!({"uid": uid, "inlay_id": inlay.map(|inlay| inlay.id), "tag_id": tag_id}),
    );
    alert.about.tag_id = tag_id;
    Ok(alert)
}

/// The alert about a one-time URL that was opened too often.
fn copied((tag_id, counter): (TagId, u32)) -> Alert {
    let mut alert = Alert::new(
        EventKind::AlertCopiedUrl,
        "A one-time URL is opened again and again: it was copied. Its taps are not verified.",
        json!({"tag_id": tag_id, "counter": counter}),
    );
    alert.about.tag_id = Some(tag_id);
    alert
}
