//! The connection on which a node listens to the others.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Notification};

use super::address::Address;
use super::connection::{ANSWER, Messages, connect, set_up};
use super::epoch::{ASKED_EVERY, announcement};
use super::migrate::Opened;
use super::node::Node;
use super::row::{column, millis, time};
use super::transaction::{LOCKS, SERVED_LOCK};
use super::{events, expected_taps, keys};
use crate::StorageError;
use domain::clock::{Millis, Timestamp};

/// The channel on which nodes send a new epoch, with the parts that changed.
const CONFIGURATION: &str = "tapdesk_configuration";
/// The channel on which nodes send how far simulated time is ahead.
pub(super) const SIMULATED_TIME: &str = "tapdesk_simulated_time";
/// Pause before a lost connection is opened again.
const PAUSE: Duration = Duration::from_millis(250);

/// The first connection's share in the start of a node.
pub(super) struct Start {
    /// Holds the database's lock until the connection does.
    pub(super) opened: Arc<Mutex<Option<Opened>>>,
    /// Notified when the connection listens.
    pub(super) listens: Arc<Notify>,
}

/// Listens until it is dropped, and reconnects if necessary. Events of all nodes go to `events`.
pub(super) async fn watch(
    address: Address,
    node: Arc<Node>,
    events: mpsc::Sender<String>,
    start: Start,
) -> Infallible {
    let mut seen = Timestamp::default();
    loop {
        let Err(error) = connection(&address, &node, &mut seen, &events, &start).await;
        tracing::debug!("not listening to other nodes: {error}");
        sleep(PAUSE).await;
    }
}

/// Listens until the connection ends.
async fn connection(
    address: &Address,
    node: &Node,
    seen: &mut Timestamp,
    events: &mpsc::Sender<String>,
    start: &Start,
) -> Result<Infallible, StorageError> {
    let (client, mut messages) = within(connect(address)).await?;
    tokio::select! {
        lost = ask(&client, node, seen, start) => lost,
        lost = hear(&mut messages, node, events) => lost,
    }
}

async fn within<T, E>(answer: impl Future<Output = Result<T, E>>) -> Result<T, StorageError>
where
    StorageError: From<E>,
{
    match timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(StorageError::Unavailable("it does not answer".to_owned())),
    }
}

/// Queries the epoch and the time repeatedly. `seen` is the last time that the database returned.
async fn ask(
    client: &Client,
    node: &Node,
    seen: &mut Timestamp,
    start: &Start,
) -> Result<Infallible, StorageError> {
    within(set_up(client)).await?;
    // No move can begin while a node holds this lock.
    let served = "SELECT pg_advisory_lock_shared($1, $2)";
    within(client.execute(served, &[&LOCKS, &SERVED_LOCK])).await?;
    let opened = start
        .opened
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(opened) = opened {
        opened.end().await;
    }
    for channel in [
        CONFIGURATION,
        SIMULATED_TIME,
        expected_taps::CHANNEL,
        events::CHANNEL,
    ] {
        within(client.batch_execute(&format!("LISTEN {channel}"))).await?;
    }
    start.listens.notify_one();
    let question = "SELECT epoch, present(), simulated_ahead() FROM configuration";
    let question = within(client.prepare(question)).await?;
    loop {
        let as_of = node.epoch.now();
        let row = within(client.query_one(&question, &[])).await?;
        let epoch: i64 = column(&row, 0)?;
        node.epoch.confirm(epoch.unsigned_abs(), as_of);
        node.epoch.learn_simulated_offset(millis(&row, 2)?);
        let now = time(&row, 1)?;
        if keys::went_back(*seen, now) {
            keys::expire(&node.session().await?, *seen, now).await?;
        }
        *seen = now;
        sleep(ASKED_EVERY).await;
    }
}

/// Handles other nodes' messages until the connection is lost.
async fn hear(
    messages: &mut Messages,
    node: &Node,
    events: &mpsc::Sender<String>,
) -> Result<Infallible, StorageError> {
    while let Some(message) = messages.next().await {
        if let AsyncMessage::Notification(notification) = message? {
            take(&notification, node, events);
        }
    }
    Err(StorageError::Unavailable(
        "the connection was lost".to_owned(),
    ))
}

fn take(notification: &Notification, node: &Node, events: &mpsc::Sender<String>) {
    match notification.channel() {
        CONFIGURATION => {
            if let Some((epoch, changed)) = announcement::read(notification.payload()) {
                node.epoch.learn(epoch, changed.as_deref());
            }
        }
        SIMULATED_TIME => {
            if let Ok(ahead) = notification.payload().parse() {
                node.epoch.learn_simulated_offset(Millis::new(ahead));
            }
        }
        expected_taps::CHANNEL => node.hear_of_test_tap(notification.payload()),
        // A node that is too slow misses some messages, as every slow listener does.
        _ => drop(events.try_send(notification.payload().to_owned())),
    }
}
