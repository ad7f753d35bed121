//! The writing itself: the holder of the turn commits, and folds between groups.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{broadcast, mpsc};

use super::super::fold::{Changes, Folded, Folding, Slice};
use super::{Command, Effects, Write, lock};
use crate::epochs::Epochs;
use crate::panics;
use crate::{SharedEvent, StorageError, StorageMetrics};
use domain::clock::{Clock, Stopwatch};

/// Most commands in one commit.
const GROUP: usize = 256;
/// Entries newer than their rows above which they are folded at once. They take about 100 MB, and a
/// start after a crash may have to read as many.
const DIRTY_MAX: usize = 1_000_000;
/// Rows affected by one tap: a counter, a client, all clients, an hour.
const ROWS_OF_A_TAP: usize = 4;
/// Shortest time between a pass over dirty entries, even a failed one, and the next.
const FOLD_PAUSE: Duration = Duration::from_secs(1);

/// Everything that writing needs.
pub(super) struct Turn {
    pub(super) connection: Connection,
    /// The queue of commands. Its end comes nevertheless once nobody else has it.
    pub(super) queue: mpsc::WeakSender<Box<dyn Command>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) events: broadcast::Sender<SharedEvent>,
    pub(super) epochs: Arc<Epochs>,
    pub(super) metrics: StorageMetrics,
    /// Whether the last commit failed for another reason than a full disk.
    pub(super) failing: AtomicBool,
    /// Whether the last group of the writer's thread had several commands.
    pub(super) crowded: Arc<AtomicBool>,
    pub(super) folded: Folded,
    pub(super) fold_every: Duration,
    /// Time since the last pass, even a failed one.
    pub(super) folded_last: Stopwatch,
    /// Whether the last pass failed; a failure is logged once.
    pub(super) fold_failing: bool,
    /// The runtime of most callers.
    pub(super) runtime: Option<Handle>,
}

/// The writer's thread: executes groups of commands until no more can come.
pub(super) fn drain(turn: &Mutex<Option<Turn>>, mut commands: mpsc::Receiver<Box<dyn Command>>) {
    let mut group = Vec::with_capacity(GROUP);
    let mut folds = false;
    while wait(&mut commands, &mut group, folds) {
        let mut turn = lock(turn);
        let Some(turn) = turn.as_mut() else { break };
        let commands = group.len();
        turn.take(&mut group);
        turn.fold(commands);
        folds = turn.goes_on();
    }
}

/// Waits for commands. While a pass is under way, it does not wait and may return none. `false`
/// once no more can come.
fn wait(
    commands: &mut mpsc::Receiver<Box<dyn Command>>,
    group: &mut Vec<Box<dyn Command>>,
    folds: bool,
) -> bool {
    if !folds {
        return commands.blocking_recv_many(group, GROUP) > 0;
    }
    while group.len() < GROUP {
        match commands.try_recv() {
            Ok(command) => group.push(command),
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => return !group.is_empty(),
        }
    }
    true
}

impl Turn {
    /// Commits a group and replies to its callers.
    fn take(&mut self, group: &mut Vec<Box<dyn Command>>) {
        self.crowded.store(group.len() > 1, Ordering::Relaxed);
        match self.commit(group) {
            Ok(()) => self.answer(group),
            Err(error) if group.len() == 1 => self.fail(group, &error),
            Err(_) => {
                for command in group.drain(..) {
                    let mut alone = vec![command];
                    match self.commit(&mut alone) {
                        Ok(()) => alone.drain(..).for_each(|command| command.reply(Ok(()))),
                        Err(error) => self.fail(&mut alone, &error),
                    }
                }
            }
        }
    }

    /// Sends the results of a committed group to its callers. For many, a task of the callers'
    /// runtime does it: a thread of the runtime wakes its tasks in a fraction of the time that
    /// another thread needs, and the next group need not wait for it.
    fn answer(&self, group: &mut Vec<Box<dyn Command>>) {
        let tell = |group: Vec<Box<dyn Command>>| {
            for command in group {
                command.reply(Ok(()));
            }
        };
        let committed = std::mem::replace(group, Vec::with_capacity(GROUP));
        match &self.runtime {
            Some(runtime) if committed.len() > 1 => {
                runtime.spawn(async move { tell(committed) });
            }
            _ => tell(committed),
        }
    }

    /// Commits the command of a caller on the caller's own thread.
    pub(super) fn alone<T>(
        &self,
        op: &impl Fn(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let done = self.commit_all(1, op);
        done.inspect_err(|error| self.metrics.failed(error))
    }

    /// Whether a pass is under way that continues without a request.
    fn goes_on(&self) -> bool {
        self.fold_every != Duration::MAX && self.folded.folds()
    }

    /// Whether a pass is due.
    pub(super) fn is_to_fold(&self) -> bool {
        let dirty = self.folded.dirty();
        let pause = if dirty > DIRTY_MAX {
            self.fold_every.min(FOLD_PAUSE)
        } else {
            self.fold_every
        };
        dirty > 0 && self.folded_last.elapsed() >= pause
    }

    /// Folds a slice after a group of `commands`, if that is due.
    fn fold(&mut self, commands: usize) {
        if self.fold_every == Duration::MAX {
            return;
        }
        let folds = self.folded.folds();
        if !folds && !self.is_to_fold() {
            return;
        }
        let mut slice = Slice::SHORT;
        if self.folded.dirty() > DIRTY_MAX {
            // The number of dirty entries must not grow further, however slow the disk is.
            slice.least = commands * ROWS_OF_A_TAP;
        }
        let folded = self.transact(1, |write| {
            if !folds {
                write.fold.begin_pass();
            }
            write.fold.fold(slice)
        });
        match folded {
            Ok((true, _)) => {}
            Ok((false, _)) => {
                self.folded_last = Stopwatch::start();
                if std::mem::take(&mut self.fold_failing) {
                    tracing::info!("counts of taps are written again");
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut self.fold_failing, true) {
                    tracing::warn!("taps are safe, and their counts are written later: {error}");
                }
                self.metrics.failed(&error);
                self.folded.abandon_pass(&error);
                self.folded_last = Stopwatch::start();
            }
        }
    }

    /// Sends the error of a command that failed in a group of one.
    fn fail(&self, alone: &mut Vec<Box<dyn Command>>, error: &StorageError) {
        self.metrics.failed(error);
        alone
            .drain(..)
            .for_each(|command| command.reply(Err(error.clone())));
    }

    /// Runs `group` in one transaction: all of it is on disk, or none.
    fn commit(&self, group: &mut [Box<dyn Command>]) -> Result<(), StorageError> {
        if group.is_empty() {
            return Ok(());
        }
        self.commit_all(group.len(), |write| {
            group.iter_mut().try_for_each(|command| command.run(write))
        })
    }

    fn commit_all<T>(
        &self,
        writes: usize,
        op: impl FnOnce(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let stopwatch = Stopwatch::start();
        let changes = self.connection.total_changes();
        let (done, effects) = self.transact(writes, op)?;
        // A probe writes nothing and waits for no disk: counting it would make the disk look fast.
        if self.connection.total_changes() != changes {
            self.metrics.committed(writes, stopwatch);
        }
        self.epochs.publish(&effects.configuration);
        if self.events.receiver_count() > 0 {
            for event in effects.events {
                let _ = self.events.send(event.into());
            }
        }
        Ok(done)
    }

    /// Runs `op` in a transaction. Readers see its effects after the commit, and before any caller
    /// or listener learns of it.
    fn transact<T>(
        &self,
        writes: usize,
        op: impl FnOnce(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<(T, Effects), StorageError> {
        let transaction = || self.transaction(writes, op);
        let (done, effects, changes) = panics::catch(transaction).inspect_err(|_| {
            // SQLite rolls back after some failures by itself.
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        })?;
        self.folded.publish(changes);
        Ok((done, effects))
    }

    fn transaction<T>(
        &self,
        writes: usize,
        op: impl FnOnce(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<(T, Effects, Changes), StorageError> {
        let connection = &self.connection;
        self.step("BEGIN IMMEDIATE")?;
        let mut write = Write {
            connection,
            now: self.clock.now(),
            fold: Folding::new(connection, &self.folded),
            failing: self.failing.load(Ordering::Relaxed),
            shared: writes > 1,
            queue: &self.queue,
            effects: Effects::default(),
        };
        let done = op(&mut write)?;
        self.step("COMMIT")?;
        self.failing.store(false, Ordering::Relaxed);
        Ok((done, write.effects, write.fold.into_changes()))
    }

    /// Runs a statement whose failure is not caused by a command.
    fn step(&self, sql: &str) -> Result<(), StorageError> {
        let done = self.connection.prepare_cached(sql);
        let done = done.and_then(|mut statement| statement.execute([]));
        done.map(drop)
            .map_err(StorageError::from)
            .inspect_err(|error| {
                if matches!(error, StorageError::Failed(_)) {
                    self.failing.store(true, Ordering::Relaxed);
                }
            })
    }
}
