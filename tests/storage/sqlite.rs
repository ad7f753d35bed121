//! SQLite: the story, and its own faults.

mod files;
mod housekeeping;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use tapdesk_service::clock::{Clock, ManualClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::sqlite::{OpenError, SqliteStorage};
use tempfile::TempDir;

use crate::storage::backend::{Backend, START};
use crate::storage::simulation;

mod story {
    story!(crate::storage::sqlite::Sqlite);
}

#[tokio::test]
async fn whatever_the_order_of_things_the_invariants_hold() {
    for seed in 0..u64::from(tapdesk_tests::cases(simulation::SEEDS)) {
        simulation::run::<Sqlite>(seed).await;
    }
}

/// A database file in a folder of its own.
pub(super) struct Sqlite(TempDir);

impl Sqlite {
    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("tapdesk.db")
    }

    /// A connection to the file that is none of the service's.
    pub(super) fn look_into(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

impl Backend for Sqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn open(&self, clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Arc<dyn Storage> {
        Arc::new(SqliteStorage::open(&self.path(), clock, entropy).unwrap())
    }
}

/// What comes of opening the file at `path`.
fn open(path: &Path) -> Result<SqliteStorage, OpenError> {
    SqliteStorage::open(path, Arc::new(ManualClock::new(START)), &OsEntropy)
}
