//! Rotation of the key that wraps secrets, while the service is stopped. The key is in its file or
//! in the system's keychain. An interrupted rotation is finished at the next start.

use std::sync::Arc;

use serde::Serialize;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::rotate::files::KeyFiles;
use tapdesk_service::rotate::places::KeyPlaces;
use tapdesk_service::rotate::{self, Observer, Phase};
use tapdesk_service::start::{Database, open_exclusive};

use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::keychain::rotation::{FIND, KeychainPlaces};

/// Progress of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RotationProgress {
    /// The phase that the counts belong to.
    pub phase: RotationPhase,
    /// The number of completed rows.
    pub done: u64,
    /// The number of rows that have secrets; 0 if the phase does not count rows.
    pub total: u64,
}

/// A phase of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RotationPhase {
    /// Secrets are decrypted to check them; nothing has changed yet.
    Checking,
    /// Secrets are wrapped by the new key.
    Wrapping,
    /// Data that the former key wrapped is removed from the file.
    Erasing,
}

/// The reason why a rotation stopped.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// A sentence for people, with a way out.
    pub(crate) why: String,
    /// Whether some secrets may already use the new key: then no service starts until the rotation
    /// is finished.
    pub(crate) half_way: bool,
}

/// Rotates the key of the database in `folders`, which must not be in use, or finishes an
/// interrupted rotation.
pub(crate) async fn run(
    folders: &Folders,
    keychain: &Keychain,
    tell: &mut (dyn FnMut(RotationProgress) + Send),
) -> Result<(), Stopped> {
    let database = Database::Sqlite(folders.database.clone());
    let storage = open_exclusive(database).await.map_err(|error| Stopped {
        why: error.to_string(),
        half_way: false,
    })?;
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let now = SystemClock::start().now();
    let mut teller = Teller::new(tell);
    let places = places(folders, keychain);
    let rotated = rotate::run(
        &storage,
        &places,
        Actor::Desktop,
        now,
        &entropy,
        &mut teller,
    );
    let rotated = rotated.await;
    let outcome = match rotated {
        Ok(rotated) => {
            tracing::info!(
                rows = rotated.rows,
                "the key that wraps secrets was rotated"
            );
            Ok(())
        }
        Err(error) => Err(Stopped {
            why: error.to_string(),
            // If the state cannot be read, assume the worse case.
            half_way: !matches!(storage.as_service().key_rotation().await, Ok(None)),
        }),
    };
    storage.close().await;
    outcome
}

/// The store of the keys. As at every start, a key file has priority.
fn places(folders: &Folders, keychain: &Keychain) -> Arc<dyn KeyPlaces> {
    let files = KeyFiles::of(&folders.key_file(), FIND);
    if files.are_there() {
        Arc::new(files)
    } else {
        Arc::new(KeychainPlaces(keychain.clone()))
    }
}

/// Reports the progress of a rotation.
struct Teller<'a> {
    tell: &'a mut (dyn FnMut(RotationProgress) + Send),
    progress: RotationProgress,
}

impl<'a> Teller<'a> {
    fn new(tell: &'a mut (dyn FnMut(RotationProgress) + Send)) -> Self {
        let progress = RotationProgress {
            phase: RotationPhase::Checking,
            done: 0,
            total: 0,
        };
        Self { tell, progress }
    }
}

impl Observer for Teller<'_> {
    fn begin(&mut self, phase: Phase, total: u64) {
        self.progress = RotationProgress {
            phase: match phase {
                Phase::Checking => RotationPhase::Checking,
                Phase::Wrapping => RotationPhase::Wrapping,
                Phase::Erasing => RotationPhase::Erasing,
            },
            done: 0,
            total,
        };
        (self.tell)(self.progress);
    }

    fn advance(&mut self, _: &'static str, rows: u64) {
        if rows > 0 {
            self.progress.done = self.progress.done.saturating_add(rows);
            (self.tell)(self.progress);
        }
    }

    fn end(&mut self) {}
}
