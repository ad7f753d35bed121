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

mod address;
mod alone;
mod configuration;
mod connection;
mod events;
mod examine;
mod identity;
mod ids;
mod interactions;
mod keys;
mod lanes;
mod migrate;
mod node;
mod passfile;
mod plane;
mod row;
mod session;
mod sweep;
mod taps;
mod time;
mod transaction;
mod transfer;
mod watch;

use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use tokio::sync::{Mutex as AsyncMutex, broadcast, mpsc};
use tokio::task::AbortHandle;

pub use address::{Address, InvalidAddress};
pub use examine::{check_audit, examine};
pub use migrate::OpenError;
pub use time::Time;
pub use transfer::PostgresEnd;

use super::{
    BackupContent, BackupNote, Queue, Storage, StorageError, StorageMetrics, Swept, Updated,
    VariableUpdate,
};
use crate::clock::{Clock, Timestamp};
use crate::entropy::Entropy;
use crate::id::InteractionId;
use crate::interaction::{NewInteraction, Recorded};
use crate::panics;
use crate::storage::{Event, Told};
use alone::Alone;
use lanes::{Lanes, Make};
use migrate::Opened;
use node::Node;
use row::column;

/// Messages of other nodes that wait to be told here.
const HEARD: usize = 1_024;

/// How a database is held while it is open.
enum Holds {
    /// With other nodes.
    With(Opened),
    /// Without any.
    Alone(Alone),
}

/// A database that this node shares with others.
pub struct PostgresStorage {
    node: Arc<Node>,
    taps: Lanes<(InteractionId, NewInteraction), Recorded>,
    updates: Lanes<VariableUpdate, Updated>,
    /// What runs beside the operations.
    tasks: Vec<AbortHandle>,
    /// Held by who has the database to itself.
    _alone: Option<Alone>,
}

impl Deref for PostgresStorage {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl PostgresStorage {
    /// Opens the database at `address`. An empty one is initialised, an older
    /// one migrated. `clock` is the node's own, and decides nothing.
    pub async fn open(
        address: Address,
        clock: Arc<dyn Clock>,
        time: Time,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        let opened = migrate::open(&address, &*clock, time, entropy).await?;
        Self::start(address, clock, time, Holds::With(opened)).await
    }

    /// The same for who has the database to itself: no node is there, and none starts until this is
    /// closed. Of what other nodes do it hears nothing, for there are none.
    pub async fn open_alone(
        address: Address,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        let opened = migrate::open(&address, &*clock, Time::Its, entropy).await?;
        opened.end().await;
        let alone = Alone::with(&address).await?;
        Self::start(address, clock, Time::Its, Holds::Alone(alone)).await
    }

    async fn start(
        address: Address,
        clock: Arc<dyn Clock>,
        time: Time,
        holds: Holds,
    ) -> Result<Self, OpenError> {
        let (opened, alone) = match holds {
            Holds::With(opened) => (Some(opened), None),
            Holds::Alone(alone) => (None, Some(alone)),
        };
        let node = Node::new(&address, clock, time)
            .await
            .map_err(|error| OpenError::Unusable(address.to_string(), error))?;
        let node = Arc::new(node);
        let (heard, messages) = mpsc::channel(HEARD);
        let messages = Arc::new(AsyncMutex::new(messages));
        let (teller, hearer, watcher) = (Arc::clone(&node), Arc::clone(&node), Arc::clone(&node));
        let panicked = || {
            let metrics = node.metrics.clone();
            move || metrics.panicked()
        };
        let telling =
            panics::restarted(panicked(), move || events::tell_others(Arc::clone(&teller)));
        let hearing = panics::restarted(panicked(), move || {
            events::tell_from_others(Arc::clone(&hearer), Arc::clone(&messages))
        });
        let opened = Arc::new(Mutex::new(opened));
        let watching = panics::restarted(panicked(), move || {
            let opened = Arc::clone(&opened);
            watch::watch(address.clone(), Arc::clone(&watcher), heard.clone(), opened)
        });
        let mut tasks = vec![
            tokio::spawn(telling).abort_handle(),
            tokio::spawn(hearing).abort_handle(),
        ];
        if alone.is_none() {
            tasks.push(tokio::spawn(watching).abort_handle());
        }
        let recording = Arc::clone(&node);
        let record: Make<(InteractionId, NewInteraction), Recorded> =
            Arc::new(move |writer, taps| {
                let node = Arc::clone(&recording);
                Box::pin(async move { taps::record::taps(&node, writer, taps).await })
            });
        let updating = Arc::clone(&node);
        let update: Make<VariableUpdate, Updated> = Arc::new(move |_, updates| {
            let node = Arc::clone(&updating);
            Box::pin(async move { taps::update::variables(&node, updates).await })
        });
        Ok(Self {
            taps: Lanes::start(node.number, &node.metrics, &record),
            updates: Lanes::start(node.number, &node.metrics, &update),
            node,
            tasks,
            _alone: alone,
        })
    }

    /// Makes all connections now. A node whose callers take every descriptor
    /// there is could make none later.
    pub async fn connect(&self) -> Result<(), StorageError> {
        let sessions = (0..session::CONNECTIONS).map(|_| self.session());
        try_join_all(sessions).await.map(drop)
    }
}

#[async_trait]
impl Storage for PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    async fn now(&self) -> Result<Timestamp, StorageError> {
        self.present().await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn advance(&self, millis: u64) -> Result<Option<Timestamp>, StorageError> {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        self.node.advance(millis).await
    }

    fn simulated_offset(&self) -> i64 {
        self.configuration.simulated_offset()
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn advance_simulated(&self, millis: u32) -> Result<i64, StorageError> {
        self.node.advance_simulated(i64::from(millis)).await
    }

    fn tell(&self, event: Event) {
        self.node.events.tell(event);
    }

    fn events(&self) -> broadcast::Receiver<Told> {
        self.events.subscribe()
    }

    fn configuration_epoch(&self) -> Option<u64> {
        self.configuration.epoch()
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn ready(&self) -> Result<(), StorageError> {
        self.taps.check()?;
        self.updates.check()?;
        let session = self.session().await?;
        let taken = "SELECT current_setting('transaction_read_only')";
        let taken = session.one(taken, &[]).await?;
        match column::<&str>(&taken, 0)? {
            "off" => Ok(()),
            _ => Err(StorageError::Unavailable(
                "it is read-only, and takes no writes".to_owned(),
            )),
        }
    }

    fn metrics(&self) -> &StorageMetrics {
        &self.node.metrics
    }

    fn queues(&self) -> Vec<Queue> {
        vec![self.taps.queue("taps"), self.updates.queue("updates")]
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn check_writable(&self) -> Result<(), StorageError> {
        // No two nodes do it at once: a write of configuration is one at a time.
        let write = self.begin().await?;
        let written = write
            .batch(
                "INSERT INTO settings (name, value) VALUES ('writable', '');
                 DELETE FROM settings WHERE name = 'writable'",
            )
            .await;
        self.end(write, written).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        self.sweep_once(keep_since).await
    }

    async fn backup(&self, _: BackupNote) -> Result<File, StorageError> {
        Err(StorageError::Unsupported(
            "This service keeps its data in PostgreSQL, which has tools of its own for backups: \
             pg_dump copies the database, pg_basebackup and the archived log the whole server. \
             Keep the file inlay.key beside the copy.",
        ))
    }

    fn makes_backups(&self) -> bool {
        false
    }

    async fn check_backup(&self, _: &Path) -> Result<BackupContent, String> {
        Err("A backup of this kind is of a SQLite database.".to_owned())
    }

    async fn close(&self) {
        self.taps.stop().await;
        self.updates.stop().await;
        // Both are for the trace alone; a failure here loses nothing else.
        let _ = self.store_notes().await;
        self.tasks.iter().for_each(AbortHandle::abort);
        self.pool.close();
    }
}

impl Drop for PostgresStorage {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
