//! PostgreSQL: many nodes on one database.
//!
//! A node keeps no state except the configuration's epoch, so any node can answer any request.
//! Races are decided inside the database, by its time: each tap or update takes one round trip, and
//! configuration changes in transactions that run one at a time. A caller continues only after its
//! commit is on the server's disk (`synchronous_commit`, asserted on every connection).
//!
//! Deliberately missing: transactions that wait for another node's answer, an index over keys (a
//! key contains its interaction's id), and prepared state that would be lost with a connection.

mod address;
mod connection;
mod epoch;
mod events;
mod examine;
mod exclusive;
mod expected_taps;
mod identity;
mod ids;
mod interactions;
mod keys;
mod lanes;
mod migrate;
mod node;
mod passfile;
mod probe;
mod row;
mod session;
mod shared;
mod sweep;
mod taps;
mod time;
mod transaction;
mod transfer;
mod upgrade;
mod watch;

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use futures_util::future::try_join_all;
use tokio::sync::{Mutex as AsyncMutex, Notify, broadcast, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout;

pub use address::{Address, InvalidAddress};
pub use examine::{certificate_states, check_audit, examine, notification_trouble};
pub use migrate::OpenError;
pub use time::Time;
pub use transfer::PostgresEnd;
pub use upgrade::{Upgraded, upgrade};

use super::{Queue, READY, StorageError, StorageMetrics, Swept, Updated, VariableUpdate};
use crate::panics;
use crate::{CachedPart, Event, SharedEvent};
use connection::ANSWER;
use domain::clock::{Clock, Millis, Timestamp};
use domain::entropy::Entropy;
use domain::id::InteractionId;
use domain::interaction::{NewInteraction, Recorded};
use exclusive::Exclusive;
use lanes::{Lanes, Make};
use migrate::Opened;
use node::Node;

/// Messages from other nodes that may wait to be passed to the listeners here.
const HEARD: usize = 1_024;

/// How a database is held while it is open.
enum Holds {
    /// Shared with other nodes.
    With(Opened),
    /// Exclusively, with no other node.
    Exclusive(Exclusive),
}

/// A PostgreSQL database that this node shares with others.
pub struct PostgresStorage {
    node: Arc<Node>,
    taps: Lanes<(InteractionId, NewInteraction), Recorded>,
    updates: Lanes<VariableUpdate, Updated>,
    /// Background tasks next to the operations.
    tasks: Vec<AbortHandle>,
    /// The exclusive lock, if this process has the database for itself.
    _exclusive: Option<Exclusive>,
}

impl Deref for PostgresStorage {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl PostgresStorage {
    /// Opens the database at `address`. Initialises an empty one, and refuses an older one, which
    /// only [`upgrade()`] upgrades.
    /// `clock` is the node's own clock, which decides nothing.
    pub async fn open(
        address: Address,
        clock: Arc<dyn Clock>,
        time: Time,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        let opened = migrate::open(&address, &*clock, time, entropy).await?;
        Self::start(address, clock, time, Holds::With(opened)).await
    }

    /// Like [`Self::open`], exclusively: no node uses the database, and none can start until this
    /// value is closed. It does not listen to other nodes, because there are none.
    pub async fn open_exclusive(
        address: Address,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, OpenError> {
        let opened = migrate::open(&address, &*clock, Time::Its, entropy).await?;
        opened.end().await;
        let exclusive = Exclusive::with(&address).await?;
        Self::start(address, clock, Time::Its, Holds::Exclusive(exclusive)).await
    }

    async fn start(
        address: Address,
        clock: Arc<dyn Clock>,
        time: Time,
        holds: Holds,
    ) -> Result<Self, OpenError> {
        let (opened, exclusive) = match holds {
            Holds::With(opened) => (Some(opened), None),
            Holds::Exclusive(exclusive) => (None, Some(exclusive)),
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
        let listens = Arc::new(Notify::new());
        let listening = Arc::clone(&listens);
        let watching = panics::restarted(panicked(), move || {
            let start = watch::Start {
                opened: Arc::clone(&opened),
                listens: Arc::clone(&listening),
            };
            watch::watch(address.clone(), Arc::clone(&watcher), heard.clone(), start)
        });
        let mut tasks = vec![
            tokio::spawn(telling).abort_handle(),
            tokio::spawn(hearing).abort_handle(),
        ];
        if exclusive.is_none() {
            tasks.push(tokio::spawn(watching).abort_handle());
            // A node that answers has heard whatever happens at others from then on. If the
            // connection fails now, the node starts and listens later, as after a lost connection.
            let _ = timeout(ANSWER, listens.notified()).await;
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
            _exclusive: exclusive,
        })
    }

    /// Opens all connections now: later, the node's callers may have used up all file descriptors.
    pub async fn connect(&self) -> Result<(), StorageError> {
        let sessions = (0..session::CONNECTIONS).map(|_| self.session());
        try_join_all(sessions).await.map(drop)
    }
}

impl PostgresStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn now(&self) -> Result<Timestamp, StorageError> {
        self.present().await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn advance(&self, span: Millis) -> Result<Option<Timestamp>, StorageError> {
        self.node.advance(span).await
    }

    pub(crate) fn simulated_offset(&self) -> Millis {
        self.epoch.simulated_offset()
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn advance_simulated(&self, span: Millis) -> Result<Millis, StorageError> {
        self.node.advance_simulated(span).await
    }

    pub(crate) fn tell(&self, event: Event) {
        self.node.events.tell(event);
    }

    pub(crate) fn tell_here(&self, event: Event) {
        self.node.events.tell_here(event);
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<SharedEvent> {
        self.events.subscribe()
    }

    pub(crate) fn configuration_epoch(&self) -> Option<u64> {
        self.epoch.current()
    }

    pub(crate) fn changed_at(&self, part: CachedPart) -> Option<u64> {
        self.epoch.of(part)
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn ready(&self) -> Result<(), StorageError> {
        self.taps.check()?;
        self.updates.check()?;
        match timeout(READY, self.node.probe()).await {
            Ok(answer) => answer,
            Err(_) => Err(StorageError::Unavailable("it does not answer".to_owned())),
        }
    }

    pub(crate) fn metrics(&self) -> &StorageMetrics {
        &self.node.metrics
    }

    pub(crate) fn queues(&self) -> Vec<Queue> {
        vec![self.taps.queue("taps"), self.updates.queue("updates")]
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn check_writable(&self) -> Result<(), StorageError> {
        // Only one node does this at a time, because writes of configuration run one at a time.
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
    pub(crate) async fn sweep(&self, keep_since: Timestamp) -> Result<Swept, StorageError> {
        self.sweep_once(keep_since).await
    }

    pub(crate) async fn close(&self) {
        self.taps.stop().await;
        self.updates.stop().await;
        // The notes only serve traces, so a failure here loses nothing else.
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
