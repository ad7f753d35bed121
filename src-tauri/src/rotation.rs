//! Rotation of the key that wraps secrets, while the service is stopped: in its file, or in the
//! system's keychain. One that was ended in the middle is finished at the next start.

use std::sync::Arc;

use serde::Serialize;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::rotate::files::KeyFiles;
use tapdesk_service::rotate::places::KeyPlaces;
use tapdesk_service::rotate::{self, Observer, Phase};
use tapdesk_service::start::{Database, open_alone};

use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::keychain::rotation::{FIND, KeychainPlaces};

/// How far a rotation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RotationProgress {
    /// What is done at the moment.
    pub phase: RotationPhase,
    /// Rows that are done.
    pub done: u64,
    /// All rows that have secrets; 0 if this phase does not count.
    pub total: u64,
}

/// What a rotation does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RotationPhase {
    /// Secrets are opened; nothing is changed yet.
    Checking,
    /// Secrets are wrapped by the new key.
    Wrapping,
    /// What the former key wrapped is removed from the file.
    Erasing,
}

/// Why a rotation stopped.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// A sentence for people, with a way out.
    pub(crate) why: String,
    /// Whether secrets may be wrapped by either key: no service starts until it is finished.
    pub(crate) half_way: bool,
}

/// Rotates the key of the database in `folders`, which nobody uses; or finishes a rotation of it.
pub(crate) async fn run(
    folders: &Folders,
    keychain: &Keychain,
    tell: &mut (dyn FnMut(RotationProgress) + Send),
) -> Result<(), Stopped> {
    let database = Database::Sqlite(folders.database.clone());
    let storage = open_alone(database).await.map_err(|error| Stopped {
        why: error.to_string(),
        half_way: false,
    })?;
    let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
    let now = SystemClock::start().now();
    let mut teller = Teller::new(tell);
    let places = places(folders, keychain);
    let rotated = rotate::run(
        &*storage,
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
            // What cannot be read may be half way.
            half_way: !matches!(storage.key_rotation().await, Ok(None)),
        }),
    };
    storage.close().await;
    outcome
}

/// Where the keys are. As at every start, a file decides.
fn places(folders: &Folders, keychain: &Keychain) -> Arc<dyn KeyPlaces> {
    let files = KeyFiles::of(&folders.key_file(), FIND);
    if files.are_there() {
        Arc::new(files)
    } else {
        Arc::new(KeychainPlaces(keychain.clone()))
    }
}

/// Tells how far it is.
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
