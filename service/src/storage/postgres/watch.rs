//! The connection on which a node hears of the others.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Notification};

use super::address::Address;
use super::configuration::{ASKED_EVERY, Configuration};
use super::connection::{ANSWER, Messages, connect, set_up};
use super::events;
use super::node::Node;
use crate::storage::StorageError;

/// The channel on which a new epoch is told.
const CONFIGURATION: &str = "tapdesk_configuration";
/// Before a lost connection is made again.
const PAUSE: Duration = Duration::from_millis(250);

/// Listens until it is dropped, and connects again where it must. What happens
/// on any node goes to `events`.
pub(super) async fn watch(
    address: Address,
    node: Arc<Node>,
    events: mpsc::Sender<String>,
) -> Infallible {
    loop {
        let Err(error) = connection(&address, &node.configuration, &events).await;
        tracing::debug!("not listening to other nodes: {error}");
        sleep(PAUSE).await;
    }
}

/// Listens as long as one connection lasts.
async fn connection(
    address: &Address,
    configuration: &Configuration,
    events: &mpsc::Sender<String>,
) -> Result<Infallible, StorageError> {
    let (client, mut messages) = within(connect(address)).await?;
    tokio::select! {
        lost = ask(&client, configuration) => lost,
        lost = hear(&mut messages, configuration, events) => lost,
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

/// Asks for the epoch, again and again.
async fn ask(client: &Client, configuration: &Configuration) -> Result<Infallible, StorageError> {
    within(set_up(client)).await?;
    let listen = format!("LISTEN {CONFIGURATION}; LISTEN {}", events::CHANNEL);
    within(client.batch_execute(&listen)).await?;
    let question = within(client.prepare("SELECT epoch FROM configuration")).await?;
    loop {
        let as_of = configuration.now();
        let row = within(client.query_one(&question, &[])).await?;
        configuration.confirm(row.get::<_, i64>(0).unsigned_abs(), as_of);
        sleep(ASKED_EVERY).await;
    }
}

/// Takes what others tell, until the connection is lost.
async fn hear(
    messages: &mut Messages,
    configuration: &Configuration,
    events: &mpsc::Sender<String>,
) -> Result<Infallible, StorageError> {
    while let Some(message) = messages.next().await {
        if let AsyncMessage::Notification(told) = message? {
            take(&told, configuration, events);
        }
    }
    Err(StorageError::Unavailable(
        "the connection was lost".to_owned(),
    ))
}

fn take(told: &Notification, configuration: &Configuration, events: &mpsc::Sender<String>) {
    match told.channel() {
        CONFIGURATION => {
            if let Ok(epoch) = told.payload().parse() {
                configuration.learn(epoch);
            }
        }
        // Whoever is slow misses some, as every listener does.
        _ => drop(events.try_send(told.payload().to_owned())),
    }
}
