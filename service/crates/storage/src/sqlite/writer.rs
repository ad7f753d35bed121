//! The writer: one connection, whose commits contain all commands that are waiting. Its thread
//! executes the queue; a tap that comes while no other command waits is committed by the thread it
//! is on.
//!
//! There is no timer: under load, commands queue while a commit is being written to disk, and the
//! next commit contains them all. A lost race is a command's result and rolls nothing back. If a
//! command fails, its group runs again one by one, so that only this command fails. The same
//! happens if it panics: the thread continues.

#[cfg(test)]
mod tests;
mod turn;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::connection;
use super::fold::{Folded, Folding, Slice};
use crate::epochs::{Changed, Epochs};
use crate::{CachedPart, Event, Queue, SharedEvent, StorageError, StorageMetrics};
use domain::clock::{Clock, Stopwatch, Timestamp};
use turn::{Turn, drain};

/// Most waiting commands; further callers wait before they enqueue.
const QUEUE: usize = 4096;

/// Most passes before the end. One is enough, except for taps that come during it on connections
/// that are about to be closed.
const SETTLED_AT_END: usize = 3;

/// The data that a command can use while it runs.
pub(super) struct Write<'a> {
    /// The connection, inside a transaction.
    pub(super) connection: &'a Connection,
    /// The time of the command, by which it decides about keys.
    pub(super) now: Timestamp,
    /// The folded state, with the changes of this transaction.
    pub(super) fold: Folding<'a>,
    /// Whether the last commit failed.
    failing: bool,
    /// Whether the transaction contains several commands.
    shared: bool,
    queue: &'a mpsc::WeakSender<Box<dyn Command>>,
    effects: Effects,
}

/// Effects of a command other than rows; they take place after its commit.
#[derive(Default)]
struct Effects {
    events: Vec<Event>,
    configuration: Changed,
}

impl Write<'_> {
    /// Does nothing, unless the last commit failed: then it writes a page unchanged, so that the
    /// commit of this command shows whether writing works again.
    pub(super) fn probe(&self) -> Result<(), StorageError> {
        if self.failing {
            self.connection
                .execute("UPDATE secrets SET value = value", [])?;
        }
        Ok(())
    }

    /// Whether other commands wait: for this commit, or for the next one.
    pub(super) fn others_wait(&self) -> bool {
        self.shared
            || self
                .queue
                .upgrade()
                .is_some_and(|queue| is_waited_in(&queue))
    }

    /// Sends `event` after the commit.
    pub(super) fn tell(&mut self, event: Event) {
        self.effects.events.push(event);
    }

    /// Marks this command as a change of the configuration: its commit invalidates this part of the
    /// caches. `None` if no cache holds the changed data.
    pub(super) fn changes(&mut self, part: Option<CachedPart>) {
        self.effects.configuration.add(part);
    }
}

/// A queued command, with its caller's reply channel.
trait Command: Send {
    /// Runs the command inside the open transaction, and keeps its result.
    fn run(&mut self, write: &mut Write<'_>) -> Result<(), StorageError>;
    /// Sends the result to the caller, which may be gone.
    fn reply(self: Box<Self>, outcome: Result<(), StorageError>);
}

struct Job<T, F> {
    op: F,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, StorageError>>,
}

impl<T, F> Command for Job<T, F>
where
    T: Send,
    F: Fn(&mut Write<'_>) -> Result<T, StorageError> + Send,
{
    fn run(&mut self, write: &mut Write<'_>) -> Result<(), StorageError> {
        self.result = Some((self.op)(write)?);
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), StorageError>) {
        let Self { result, reply, .. } = *self;
        let _ = reply.send(outcome.and_then(|()| result.ok_or_else(closed)));
    }
}

fn closed() -> StorageError {
    StorageError::Unavailable("it is closed".to_owned())
}

/// The error when the thread ended without being stopped: it panicked outside of a command.
fn ended() -> StorageError {
    StorageError::Unavailable("its writer has ended, and the service must be restarted".to_owned())
}

/// The handle to the writer.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Command>>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    /// The holder of this lock writes. `None` once the database is closed.
    turn: Arc<Mutex<Option<Turn>>>,
    epochs: Arc<Epochs>,
    folded: Folded,
    metrics: StorageMetrics,
    /// Shared with the turn; see [`Turn::crowded`].
    crowded: Arc<AtomicBool>,
}

impl Writer {
    /// Starts the writer with the state `folded`. It folds the effects of taps every `fold_every`;
    /// with [`Duration::MAX`], only on request.
    pub(super) fn start(
        connection: Connection,
        clock: Arc<dyn Clock>,
        events: broadcast::Sender<SharedEvent>,
        folded: Folded,
        fold_every: Duration,
    ) -> Self {
        let (queue, commands) = mpsc::channel(QUEUE);
        let epochs = Arc::new(Epochs::default());
        let metrics = StorageMetrics::default();
        let crowded = Arc::new(AtomicBool::new(false));
        let turn = Turn {
            connection,
            queue: queue.downgrade(),
            clock,
            events,
            epochs: Arc::clone(&epochs),
            metrics: metrics.clone(),
            failing: AtomicBool::new(false),
            crowded: Arc::clone(&crowded),
            folded: folded.clone(),
            fold_every,
            folded_last: Stopwatch::start(),
            fold_failing: false,
            runtime: Handle::try_current().ok(),
        };
        let turn = Arc::new(Mutex::new(Some(turn)));
        let taken = Arc::clone(&turn);
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || drain(&taken, commands))
            .expect("a thread can be started");
        Self {
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
            turn,
            epochs,
            folded,
            metrics,
            crowded,
        }
    }

    /// The folded state, for readers.
    pub(super) const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Folds the effects of all taps so far. It also ends if a fold fails: the writer may run that
    /// between two of these commands, and has then abandoned the pass.
    pub(super) async fn settle(&self) -> Result<(), StorageError> {
        let begin = |write: &mut Write<'_>| {
            write.fold.begin_pass();
            Ok((write.fold.passes() + 1, write.fold.failures()))
        };
        let (pass, failures) = self.run(begin).await?;
        while self.folded.passes() < pass {
            if let Some(error) = self.folded.failed_since(failures) {
                return Err(error);
            }
            self.run(|write| write.fold.fold(Slice::SHORT)).await?;
        }
        Ok(())
    }

    /// Folds everything before the end, or logs why it cannot.
    pub(super) async fn settle_at_end(&self) {
        for _ in 0..SETTLED_AT_END {
            if self.folded.dirty() == 0 {
                return;
            }
            if let Err(error) = self.settle().await {
                tracing::warn!(
                    "counts were not written: {error} They follow from the taps, which are stored, \
                     and the next start reads them again."
                );
                return;
            }
        }
    }

    /// The writer's measurements of its commits.
    pub(super) fn metrics(&self) -> &StorageMetrics {
        &self.metrics
    }

    /// Commands that wait for the next group.
    pub(super) fn queue(&self) -> Queue {
        let waiting = lock(&self.queue)
            .as_ref()
            .map_or(0, |queue| queue.max_capacity() - queue.capacity());
        Queue {
            name: "writes",
            waiting,
            limit: QUEUE,
        }
    }

    /// The epochs of configuration.
    pub(super) fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// Queues `op` and waits for its commit. If a caller stops waiting, the command still runs.
    pub(super) fn run<T: Send + 'static>(
        &self,
        op: impl Fn(&mut Write<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StorageError>> + Send {
        let (reply, answer) = oneshot::channel();
        // Boxed here instead of in the future, which is then small whatever the command holds.
        let job: Box<dyn Command> = Box::new(Job {
            op,
            result: None,
            reply,
        });
        async move {
            let queue = lock(&self.queue).clone().ok_or_else(closed)?;
            // A command that cannot be sent is dropped at once, with its end of the reply channel.
            let sent = queue.send(job).await.map_err(drop);
            drop(queue);
            match (sent, answer.await) {
                (Ok(()), Ok(answer)) => answer,
                // The writer has ended, so this counts the failure.
                _ => Err(ended()).inspect_err(|error| self.metrics.failed(error)),
            }
        }
    }

    /// Like [`Self::run`], on this thread if no other thread writes or waits: waking the writer's
    /// thread and being woken by it takes as long as the commit.
    ///
    /// It blocks the thread for as long as the disk takes: only one thread of the runtime at a
    /// time, and only if there are others. Those continue, and the commands that they queue
    /// meanwhile become one group. After a group of several commands, the writer's thread does it,
    /// because the next commands are already coming and can share a commit.
    pub(super) async fn run_here<T, F>(&self, op: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut Write<'_>) -> Result<T, StorageError> + Send + 'static,
    {
        if !self.crowded.load(Ordering::Relaxed)
            && self.nobody_waits()
            && others_go_on()
            && let Ok(mut turn) = self.turn.try_lock()
            && let Some(turn) = turn.as_mut()
            && !turn.is_to_fold()
        {
            return turn.alone(&op);
        }
        self.run(op).await
    }

    fn nobody_waits(&self) -> bool {
        lock(&self.queue)
            .as_ref()
            .is_some_and(|queue| !is_waited_in(queue))
    }

    /// Empties the log between two commits. `false` if a reader prevents it.
    pub(super) async fn empty_log(&self) -> Result<bool, StorageError> {
        let turn = Arc::clone(&self.turn);
        let emptied = tokio::task::spawn_blocking(move || {
            let turn = lock(&turn);
            let turn = turn.as_ref().ok_or_else(closed)?;
            Ok(connection::empty_log(&turn.connection)?)
        });
        let emptied = emptied.await;
        emptied.map_err(|error| StorageError::Failed(error.to_string()))?
    }

    /// Commits the queued commands and ends the thread.
    pub(super) async fn stop(&self) {
        lock(&self.queue).take();
        let thread = lock(&self.thread).take();
        let turn = Arc::clone(&self.turn);
        let ended = tokio::task::spawn_blocking(move || {
            if let Some(thread) = thread {
                let _ = thread.join();
            }
            // Waits for a caller that writes on its own thread.
            lock(&turn).take();
        });
        let _ = ended.await;
    }
}

/// Whether commands wait in a queue.
fn is_waited_in(queue: &mpsc::Sender<Box<dyn Command>>) -> bool {
    queue.capacity() < queue.max_capacity()
}

/// Whether other threads of the runtime continue while this one blocks.
fn others_go_on() -> bool {
    Handle::try_current().is_ok_and(|runtime| {
        runtime.runtime_flavor() == RuntimeFlavor::MultiThread
            && runtime.metrics().num_workers() > 1
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
