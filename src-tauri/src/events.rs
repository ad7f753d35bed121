//! What the page hears without asking: the shell's state and the service's
//! events, through channels. A page that is loaded again takes its
//! subscriptions with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tauri::async_runtime::{self, JoinHandle};
use tauri::ipc::Channel;
use tokio::sync::{mpsc, watch};

use crate::reader::board::Table;
use crate::shell::Shell;
use crate::state::ShellState;

/// Between two attempts to hear a service that fell silent.
const PAUSE: Duration = Duration::from_secs(2);

/// The subscriptions of the page that is shown.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<Vec<JoinHandle<()>>>);

impl Subscriptions {
    /// Keeps `work` going as long as the page is shown.
    pub(crate) fn add(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = async_runtime::spawn(work);
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.inner().is_finished());
        tasks.push(task);
    }

    /// Ends all: another page is loaded.
    pub(crate) fn end(&self) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.drain(..).for_each(|task| task.abort());
    }
}

/// Tells the present state and every change of it.
pub(crate) async fn tell_state(
    mut states: watch::Receiver<ShellState>,
    channel: Channel<ShellState>,
) {
    loop {
        let state = states.borrow_and_update().clone();
        if channel.send(state).is_err() || states.changed().await.is_err() {
            return;
        }
    }
}

/// Tells what lies on the readers, every change of it.
pub(crate) async fn tell_tables(
    mut tables: mpsc::UnboundedReceiver<Table>,
    channel: Channel<Table>,
) {
    while let Some(table) = tables.recv().await {
        if channel.send(table).is_err() {
            return;
        }
    }
}

/// Tells what happens in the service that the screens show, whichever that is.
pub(crate) async fn tell_events(shell: Arc<Shell>, channel: Channel<Value>) {
    let mut states = shell.watch();
    loop {
        // Before the service is asked for: a change after this is heard below.
        states.mark_unchanged();
        let backend = shell.backend().await;
        let events = backend.map(|backend| backend.events());
        let outcome = tokio::select! {
            told = tell(events, &channel) => told,
            changed = states.changed() => changed.map_err(|_| NobodyListens),
        };
        if outcome.is_err() {
            return;
        }
    }
}

/// The page, or the shell, is gone.
struct NobodyListens;

/// Tells `events` until the service falls silent, and then waits a while.
async fn tell(
    events: Option<mpsc::Receiver<Value>>,
    channel: &Channel<Value>,
) -> Result<(), NobodyListens> {
    if let Some(mut events) = events {
        while let Some(event) = events.recv().await {
            channel.send(event).map_err(|_| NobodyListens)?;
        }
    }
    tokio::time::sleep(PAUSE).await;
    Ok(())
}
