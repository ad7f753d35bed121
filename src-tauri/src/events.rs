//! What the page hears without asking: the shell's state and the service's
//! events, through channels. A page that is loaded again takes its
//! subscriptions with it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
pub(crate) struct Subscriptions(Mutex<Tasks>);

#[derive(Default)]
struct Tasks {
    all: Vec<JoinHandle<()>>,
    /// The one that tells the service's events. The page asks for another with
    /// each connection that it shows.
    events: Option<JoinHandle<()>>,
}

impl Subscriptions {
    /// Keeps `work` going as long as the page is shown.
    pub(crate) fn add(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = async_runtime::spawn(work);
        let mut tasks = self.tasks();
        tasks.all.retain(|task| !task.inner().is_finished());
        tasks.all.push(task);
    }

    /// Keeps `work`, which tells events, going in place of the one before.
    pub(crate) fn hear(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = async_runtime::spawn(work);
        if let Some(before) = self.tasks().events.replace(task) {
            before.abort();
        }
    }

    /// Ends all: another page is loaded.
    pub(crate) fn end(&self) {
        let Tasks { all, events } = std::mem::take(&mut *self.tasks());
        all.into_iter().chain(events).for_each(|task| task.abort());
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
pub(crate) async fn tell_events(shell: Arc<Shell>, connection: String, channel: Channel<Value>) {
    let mut states = shell.watch();
    loop {
        // Before the service is asked for: a change after this is heard below.
        states.mark_unchanged();
        let backend = shell.backend_of(&connection).await;
        let events = backend.ok().map(|backend| backend.events());
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

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[test]
    fn a_page_hears_the_events_of_one_connection_at_a_time() {
        let page = Subscriptions::default();
        let hear = || {
            let (going_on, ended) = mpsc::unbounded_channel::<()>();
            page.hear(async move {
                let _going_on = going_on;
                pending::<()>().await;
            });
            ended
        };
        let mut first = hear();
        let mut second = hear();
        async_runtime::block_on(async {
            assert!(first.recv().await.is_none(), "the first has ended");
            assert!(second.try_recv().is_err());
            assert!(!second.is_closed(), "the second goes on");
            page.end();
            assert!(second.recv().await.is_none());
        });
    }
}
