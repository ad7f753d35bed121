//! The writer: one thread, one connection, and as many commands in a commit as
//! are waiting.
//!
//! There is no timer: under load commands queue while a commit is on its way to
//! the disk, and the next commit takes them all. A lost race is a command's
//! result and rolls nothing back; a command that fails makes its group run
//! again one by one, so that it fails alone. So does one that panics: the thread
//! goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::fold::{Changes, Folded, Folding, Slice};
use crate::clock::{Clock, Stopwatch, Timestamp};
use crate::panics;
use crate::storage::{Event, Queue, StorageError, StorageMetrics, Told};

/// Most commands in one commit.
const GROUP: usize = 256;
/// Commands that may wait; beyond it callers wait to enqueue.
const QUEUE: usize = 4096;
/// Entries that are newer than their rows, beyond which they are folded at once: about
/// 100 MB, and what a start after a crash may have to read.
const DIRTY_MAX: usize = 1_000_000;
/// At least so long after a pass over dirty entries, or after one that failed.
const FOLD_PAUSE: Duration = Duration::from_secs(1);

/// What a command sees while it runs.
pub(super) struct Write<'a> {
    /// The connection, inside a transaction.
    pub(super) connection: &'a Connection,
    /// The time that decides.
    pub(super) now: Timestamp,
    /// What follows from taps.
    pub(super) fold: Folding<'a>,
    /// Whether the last commit failed.
    failing: bool,
    effects: Effects,
}

/// What a command leaves behind beside its rows, once it is committed.
#[derive(Default)]
struct Effects {
    events: Vec<Event>,
    configuration: bool,
}

impl Write<'_> {
    /// Does nothing, unless the last commit failed: then it writes a page as it
    /// was, so that the commit of this command shows whether writing works again.
    pub(super) fn probe(&self) -> Result<(), StorageError> {
        if self.failing {
            self.connection
                .execute("UPDATE secrets SET value = value", [])?;
        }
        Ok(())
    }

    /// Tells `event` after the commit.
    pub(super) fn tell(&mut self, event: Event) {
        self.effects.events.push(event);
    }

    /// Configuration is changed by this command: caches are void after the commit.
    pub(super) fn changes_configuration(&mut self) {
        self.effects.configuration = true;
    }
}

/// A queued command.
trait Command: Send {
    /// Runs it inside the open transaction, keeping its result.
    fn run(&mut self, write: &mut Write<'_>) -> Result<(), StorageError>;
    /// Hands the result to the caller, who may be gone.
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

/// The thread is gone, though nobody stopped it: it panicked outside of a command.
fn ended() -> StorageError {
    StorageError::Unavailable("its writer has ended, and the service must be restarted".to_owned())
}

/// The handle to the writer thread.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Command>>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    epoch: Arc<AtomicU64>,
    folded: Folded,
    metrics: StorageMetrics,
}

impl Writer {
    /// Takes taps on top of what is `folded`, and folds what they did every `fold_every`;
    /// only when it is told to, if that is [`Duration::MAX`].
    pub(super) fn start(
        connection: Connection,
        clock: Arc<dyn Clock>,
        events: broadcast::Sender<Told>,
        folded: Folded,
        fold_every: Duration,
    ) -> Self {
        let (queue, commands) = mpsc::channel(QUEUE);
        let epoch = Arc::new(AtomicU64::new(1));
        let metrics = StorageMetrics::default();
        let mut turn = Turn {
            connection,
            clock,
            events,
            epoch: Arc::clone(&epoch),
            metrics: metrics.clone(),
            failing: AtomicBool::new(false),
            folded: folded.clone(),
            fold_every,
            folded_last: Stopwatch::start(),
        };
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || turn.drain(commands))
            .expect("a thread can be started");
        Self {
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
            epoch,
            folded,
            metrics,
        }
    }

    /// What follows from taps, for readers.
    pub(super) const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Folds everything that taps did until now.
    pub(super) async fn settle(&self) -> Result<(), StorageError> {
        let begin = |write: &mut Write<'_>| {
            write.fold.begin_pass();
            Ok(write.fold.passes() + 1)
        };
        let pass = self.run(begin).await?;
        while self.folded.passes() < pass {
            self.run(|write| write.fold.fold(Slice::SHORT)).await?;
        }
        Ok(())
    }

    /// What it measures of its commits.
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

    pub(super) fn configuration_epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Queues `op` and waits for its commit. A caller that stops waiting does
    /// not stop the command.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        op: impl Fn(&mut Write<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let queue = lock(&self.queue).clone().ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Job {
            op,
            result: None,
            reply,
        });
        // What cannot be sent is dropped at once, and its end of the answer with it.
        let sent = queue.send(job).await.map_err(drop);
        drop(queue);
        match (sent, answer.await) {
            (Ok(()), Ok(answer)) => answer,
            // Nobody is left to count it.
            _ => Err(ended()).inspect_err(|error| self.metrics.failed(error)),
        }
    }

    /// Commits what is queued and ends the thread.
    pub(super) async fn stop(&self) {
        lock(&self.queue).take();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Turn {
    connection: Connection,
    clock: Arc<dyn Clock>,
    events: broadcast::Sender<Told>,
    epoch: Arc<AtomicU64>,
    metrics: StorageMetrics,
    /// Whether the last commit failed, and not for want of room.
    failing: AtomicBool,
    folded: Folded,
    fold_every: Duration,
    /// Since the last pass, or the last that failed.
    folded_last: Stopwatch,
}

impl Turn {
    fn drain(&mut self, mut commands: mpsc::Receiver<Box<dyn Command>>) {
        let mut group = Vec::with_capacity(GROUP);
        while self.wait(&mut commands, &mut group) {
            match self.commit(&mut group) {
                Ok(()) => group.drain(..).for_each(|command| command.reply(Ok(()))),
                Err(error) if group.len() == 1 => self.fail(&mut group, &error),
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
            self.fold();
        }
    }

    /// Waits for commands, except while a pass is under way: then there may be none. `false`
    /// once no more will come.
    fn wait(
        &self,
        commands: &mut mpsc::Receiver<Box<dyn Command>>,
        group: &mut Vec<Box<dyn Command>>,
    ) -> bool {
        if self.fold_every == Duration::MAX || !self.folded.folds() {
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

    /// Folds a slice, if it is time to.
    fn fold(&mut self) {
        if self.fold_every == Duration::MAX {
            return;
        }
        let folds = self.folded.folds();
        let dirty = self.folded.dirty();
        let many = dirty > DIRTY_MAX;
        let pause = if many {
            self.fold_every.min(FOLD_PAUSE)
        } else {
            self.fold_every
        };
        if !folds && (dirty == 0 || self.folded_last.elapsed() < pause) {
            return;
        }
        let slice = if many { Slice::LONG } else { Slice::SHORT };
        let folded = self.transact(|write| {
            if !folds {
                write.fold.begin_pass();
            }
            write.fold.fold(slice)
        });
        match folded {
            Ok((true, _)) => {}
            Ok((false, _)) => self.folded_last = Stopwatch::start(),
            Err(error) => {
                tracing::warn!("taps are safe, and their counts are written later: {error}");
                self.metrics.failed(&error);
                self.folded.abandon_pass();
                self.folded_last = Stopwatch::start();
            }
        }
    }

    /// Tells the caller of a command that failed alone.
    fn fail(&self, alone: &mut Vec<Box<dyn Command>>, error: &StorageError) {
        self.metrics.failed(error);
        alone
            .drain(..)
            .for_each(|command| command.reply(Err(error.clone())));
    }

    /// Runs `group` in one transaction: all of it is on disk, or none.
    fn commit(&mut self, group: &mut [Box<dyn Command>]) -> Result<(), StorageError> {
        if group.is_empty() {
            return Ok(());
        }
        let stopwatch = Stopwatch::start();
        let changes = self.connection.total_changes();
        let ((), effects) =
            self.transact(|write| group.iter_mut().try_for_each(|command| command.run(write)))?;
        // A probe writes nothing and waits for no disk: it would make the disk look fast.
        if self.connection.total_changes() != changes {
            self.metrics.committed(group.len(), stopwatch);
        }
        if effects.configuration {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        if self.events.receiver_count() > 0 {
            for event in effects.events {
                let _ = self.events.send(event.into());
            }
        }
        Ok(())
    }

    /// Runs `op` in a transaction. What follows from it is seen by readers after its commit,
    /// and before anybody is told.
    fn transact<T>(
        &self,
        op: impl FnOnce(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<(T, Effects), StorageError> {
        let transaction = || self.transaction(op);
        let (done, effects, changes) = panics::catch(transaction).inspect_err(|_| {
            // SQLite rolls some failures back by itself; then there is nothing left to do.
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        })?;
        self.folded.publish(changes);
        Ok((done, effects))
    }

    fn transaction<T>(
        &self,
        op: impl FnOnce(&mut Write<'_>) -> Result<T, StorageError>,
    ) -> Result<(T, Effects, Changes), StorageError> {
        let connection = &self.connection;
        self.step("BEGIN IMMEDIATE")?;
        let mut write = Write {
            connection,
            now: self.clock.now(),
            fold: Folding::new(connection, &self.folded),
            failing: self.failing.load(Ordering::Relaxed),
            effects: Effects::default(),
        };
        let done = op(&mut write)?;
        self.step("COMMIT")?;
        self.failing.store(false, Ordering::Relaxed);
        Ok((done, write.effects, write.fold.into_changes()))
    }

    /// A statement that fails for no fault of a command's.
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;
    use crate::clock::SystemClock;
    use crate::storage::sqlite::fold::EVERY;

    /// A writer, and what makes its commits fail.
    fn writer() -> (Writer, Arc<AtomicBool>) {
        let connection = Connection::open_in_memory().unwrap();
        let schema = "CREATE TABLE secrets (value); INSERT INTO secrets VALUES (1);
             CREATE TABLE notes (text)";
        connection.execute_batch(schema).unwrap();
        let broken = Arc::new(AtomicBool::new(false));
        let hook = Arc::clone(&broken);
        connection
            .commit_hook(Some(move || hook.load(Ordering::Relaxed)))
            .unwrap();
        let (events, _) = broadcast::channel(1);
        let clock = Arc::new(SystemClock::start());
        let folded = Folded::default();
        (
            Writer::start(connection, clock, events, folded, EVERY),
            broken,
        )
    }

    async fn note(writer: &Writer) -> Result<(), StorageError> {
        let insert = "INSERT INTO notes VALUES ('')";
        let noted = writer.run(move |write| Ok(write.connection.execute(insert, [])?));
        noted.await.map(drop)
    }

    async fn notes(writer: &Writer) -> i64 {
        let count = "SELECT count(*) FROM notes";
        let counted =
            writer.run(move |write| Ok(write.connection.query_row(count, [], |row| row.get(0))?));
        counted.await.unwrap()
    }

    #[tokio::test]
    async fn whether_it_can_write_is_tried_once_a_commit_has_failed() {
        let (writer, broken) = writer();
        let probe = || writer.run(|write| write.probe());
        probe().await.unwrap();
        broken.store(true, Ordering::Relaxed);
        note(&writer).await.unwrap_err();
        probe().await.unwrap_err();
        broken.store(false, Ordering::Relaxed);
        probe().await.unwrap();
        note(&writer).await.unwrap();
        assert_eq!(notes(&writer).await, 1);
    }

    #[tokio::test]
    async fn what_a_command_wrote_before_it_panicked_is_taken_back() {
        let (writer, _) = writer();
        let panicked = writer.run(|write| -> Result<(), _> {
            write
                .connection
                .execute("INSERT INTO notes VALUES ('')", [])?;
            panic!("a test's own panic")
        });
        let panicked = panicked.await;
        assert!(
            matches!(panicked, Err(StorageError::Panicked)),
            "{panicked:?}"
        );
        assert_eq!(notes(&writer).await, 0);
        note(&writer).await.unwrap();
        assert_eq!(writer.metrics().panics(), 1);
    }

    /// Panics where the writer throws it away: outside of every command.
    struct Unwelcome;

    impl Drop for Unwelcome {
        fn drop(&mut self) {
            assert!(
                std::thread::current().name() != Some("sqlite-writer"),
                "a test's own panic"
            );
        }
    }

    #[tokio::test]
    async fn a_writer_that_has_ended_says_so_and_each_write_that_it_fails_is_counted() {
        let (writer, _) = writer();
        note(&writer).await.unwrap();
        // The caller is gone before the writer can hand it the result.
        let (go, waits) = std::sync::mpsc::channel::<()>();
        let waits = Mutex::new(waits);
        let mut abandoned = Box::pin(writer.run(move |_| {
            let _ = waits.lock().unwrap().recv();
            Ok(Unwelcome)
        }));
        assert!((&mut abandoned).now_or_never().is_none());
        drop(abandoned);
        drop(go);
        let failed = note(&writer).await.unwrap_err().to_string();
        assert!(failed.contains("its writer has ended"), "{failed}");
        let probed = writer.run(|write| write.probe()).await.unwrap_err();
        assert!(probed.to_string().contains("restart"), "{probed}");
        let mut registry = Registry::default();
        writer.metrics().register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let failures = "write_failures_total{reason=\"unavailable\"} 2";
        assert!(text.contains(failures), "{text}");
    }
}
