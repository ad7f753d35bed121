//! SQLite: the story, and its specific faults.

mod files;
mod fold;
mod housekeeping;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use rusqlite::Connection;
use tapdesk_service::clock::{Clock, ManualClock};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::sqlite::{OpenError, SqliteStorage};
use tempfile::TempDir;

use crate::storage::backend::{Backend, Opened, START};
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

/// A database file in its own folder.
pub(super) struct Sqlite {
    folder: TempDir,
    /// The storage that was opened last.
    storage: Mutex<Weak<SqliteStorage>>,
}

impl Sqlite {
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("tapdesk.db")
    }

    fn storage(&self) -> Arc<SqliteStorage> {
        let storage = self.storage.lock().unwrap().upgrade();
        storage.expect("it is open")
    }

    /// A direct connection to the file, not the service's.
    pub(super) fn look_into(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

impl Backend for Sqlite {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            storage: Mutex::default(),
        }
    }

    async fn open(&self, clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Storage {
        // It folds only when a test asks for it.
        let never = Duration::MAX;
        let storage = SqliteStorage::open_folding(&self.path(), clock, entropy, never).unwrap();
        let storage = Arc::new(storage);
        *self.storage.lock().unwrap() = Arc::downgrade(&storage);
        Storage::Sqlite(storage)
    }

    async fn refuse(&self, table: &str, refuses: bool) {
        let sql = if refuses {
            ["INSERT", "UPDATE"].map(|write| {
                format!(
                    "CREATE TRIGGER refused_{write} BEFORE {write} ON {table}
                     BEGIN SELECT RAISE(ABORT, 'a test refuses it'); END;"
                )
            })
        } else {
            ["INSERT", "UPDATE"].map(|write| format!("DROP TRIGGER refused_{write};"))
        };
        self.look_into().execute_batch(&sql.concat()).unwrap();
    }

    async fn fold(&self) -> bool {
        self.storage().fold(1).await.unwrap()
    }
}

/// The result of opening the file at `path`.
fn open(path: &Path) -> Result<Opened, OpenError> {
    let storage = SqliteStorage::open(path, Arc::new(ManualClock::new(START)), &OsEntropy)?;
    Ok(storage.into())
}
