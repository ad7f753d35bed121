//! Messages that the page gets without asking: the shell's state and the service's events, through
//! channels. When the page is reloaded, its subscriptions end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tauri::async_runtime::{self, JoinHandle};
use tauri::ipc::Channel;
use tokio::sync::{mpsc, watch};

use crate::reader::board::Table;
use crate::reader::own_reads::OwnReads;
use crate::shell::Shell;
use crate::state::ShellState;

/// Pause before reconnecting to a service that fell silent.
const PAUSE: Duration = Duration::from_secs(2);

/// The subscriptions of the page that is shown.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<Tasks>);

#[derive(Default)]
struct Tasks {
    all: Vec<JoinHandle<()>>,
    /// The task that sends the service's events. The page starts another one for each connection
    /// that it shows.
    events: Option<JoinHandle<()>>,
}

impl Subscriptions {
    /// Runs `work` as long as the page is shown.
    pub(crate) fn add(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = async_runtime::spawn(work);
        let mut tasks = self.tasks();
        tasks.all.retain(|task| !task.inner().is_finished());
        tasks.all.push(task);
    }

    /// Runs `work`, which sends events, in place of the previous one.
    pub(crate) fn hear(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = async_runtime::spawn(work);
        if let Some(before) = self.tasks().events.replace(task) {
            before.abort();
        }
    }

    /// Ends all subscriptions, because another page is loaded.
    pub(crate) fn end(&self) {
        let Tasks { all, events } = std::mem::take(&mut *self.tasks());
        all.into_iter().chain(events).for_each(|task| task.abort());
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the present state and every change of it to the page.
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

/// Sends the contents of the readers, and every change of them, to the page.
pub(crate) async fn tell_tables(
    mut tables: mpsc::UnboundedReceiver<Table>,
    mut own: OwnReads,
    channel: Channel<Table>,
) {
    while let Some(table) = tables.recv().await {
        // This must come first: the dry run that the page asks for next has to know these reads.
        own.note(&table).await;
        if channel.send(table).is_err() {
            return;
        }
    }
}

/// Sends the events of the service that the screens show to the page, as long as it is
/// `connection`. After an interruption, the page is told that it may have missed events.
pub(crate) async fn tell_events(shell: Arc<Shell>, connection: String, channel: Channel<Value>) {
    let mut states = shell.watch();
    let mut again = false;
    loop {
        // This must come before the service is asked for, so that a change after it is noticed
        // below.
        states.mark_unchanged();
        let backend = shell.backend_of(&connection).await;
        let events = backend.ok().map(|backend| backend.events(again));
        // Events between two streams are missed.
        again = true;
        let outcome = tokio::select! {
            ended = tell(events, &channel) => ended,
            changed = states.changed() => changed.map_err(|_| NobodyListens),
        };
        if outcome.is_err() {
            return;
        }
    }
}

/// The page or the shell is gone.
struct NobodyListens;

/// Forwards `events` until the service falls silent, and then waits for a moment.
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
