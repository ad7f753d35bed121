//! PostgreSQL: many nodes on one database.
//!
//! A node keeps no state but what it knows of the configuration's epoch; any
//! node answers anything. What races is decided inside the database, by its
//! time: taps and updates in one round trip each, configuration in transactions
//! of which there is one at a time. A commit is on the server's disk before its
//! caller goes on (`synchronous_commit`, asserted on every connection).
//!
//! Absent, by design: a transaction that waits for another node's answer, an
//! index over keys (a key carries its interaction's id), and prepared state that
//! a lost connection would take with it.

#![expect(dead_code, reason = "its operations follow, one noun after the other")]

mod address;
mod configuration;
mod connection;
mod migrate;
mod passfile;
mod row;
mod session;
mod time;
mod transaction;
mod watch;

use std::sync::Arc;

use deadpool_postgres::Pool;
use tokio::task::AbortHandle;

pub use address::{Address, InvalidAddress};
pub use migrate::OpenError;
pub use time::Time;

use super::StorageError;
use crate::entropy::Entropy;
use configuration::Configuration;
use session::Session;
use time::Following;

/// A database that this node shares with others.
pub struct PostgresStorage {
    pool: Pool,
    following: Following,
    configuration: Arc<Configuration>,
    watch: AbortHandle,
}

impl PostgresStorage {
    /// Opens the database at `address`. An empty one is initialised, an older one migrated.
    pub async fn open(
        address: Address,
        time: Time,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        migrate::open(&address, &time, entropy).await?;
        let name = address.to_string();
        let configuration = Arc::new(Configuration::new());
        let watch = watch::watch(address.clone(), Arc::clone(&configuration));
        let storage = Self {
            pool: session::pool(&address),
            following: Following::new(&time),
            configuration,
            watch: tokio::spawn(watch).abort_handle(),
        };
        storage
            .learn_epoch()
            .await
            .map_err(|error| OpenError::Unusable(name, error))?;
        Ok(storage)
    }

    /// A connection for one operation.
    async fn session(&self) -> Result<Session, StorageError> {
        let session = Session::of(&self.pool).await?;
        self.following.tell(&session).await?;
        Ok(session)
    }

    async fn learn_epoch(&self) -> Result<(), StorageError> {
        let as_of = self.configuration.now();
        let row = self
            .session()
            .await?
            .one("SELECT epoch FROM configuration", &[])
            .await?;
        let epoch: i64 = row::column(&row, 0)?;
        self.configuration.confirm(epoch.unsigned_abs(), as_of);
        Ok(())
    }
}

impl Drop for PostgresStorage {
    fn drop(&mut self) {
        self.watch.abort();
    }
}
