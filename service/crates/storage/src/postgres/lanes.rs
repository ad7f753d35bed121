//! Lanes of writes of one kind to the database. One statement contains all writes that are waiting.
//!
//! There is no timer: under load, writes queue while a commit is being written to disk, and the
//! next statement contains them all. There are several lanes, so that a write that waits for
//! another node delays only its own lane. If a write fails or panics, only this write fails, and
//! its lane continues. A lane that panics outside of every write is started again.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::panics;
use crate::{Queue, StorageError, StorageMetrics};
use domain::clock::Stopwatch;

/// Statements of one kind that may run at the same time.
const LANES: i64 = 2;
/// Most writes in one statement.
const GROUP: usize = 256;
/// Most waiting writes; further callers wait before they enqueue.
const QUEUE: usize = 4096;

/// Executes writes in one statement: all of them, or none. `writer` is a lane number: no other lane
/// of this node uses it, and only few lanes of other nodes do.
pub(super) type Make<W, T> =
    Arc<dyn for<'a> Fn(i16, &'a [W]) -> BoxFuture<'a, Result<Vec<T>, StorageError>> + Send + Sync>;

/// A write, and the channel to its waiting caller.
struct Waiting<W, T> {
    write: W,
    reply: oneshot::Sender<Result<T, StorageError>>,
}

type Writes<W, T> = AsyncMutex<mpsc::Receiver<Waiting<W, T>>>;

/// A node's lanes for one kind of write.
pub(super) struct Lanes<W, T> {
    queue: Mutex<Option<mpsc::Sender<Waiting<W, T>>>>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
}

fn closed() -> StorageError {
    StorageError::Unavailable("it is closed".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Send + Sync + 'static, T: Send + 'static> Lanes<W, T> {
    /// Starts the lanes of the node `number`. Commits and failures are counted in `metrics`.
    pub(super) fn start(number: i64, metrics: &StorageMetrics, make: &Make<W, T>) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let receiver = Arc::new(AsyncMutex::new(receiver));
        let lanes = (0..LANES).map(|lane| {
            let number = number.wrapping_mul(LANES).wrapping_add(lane);
            let writer = i16::try_from(number.rem_euclid(i64::from(i16::MAX))).unwrap_or_default();
            let (receiver, make) = (Arc::clone(&receiver), Arc::clone(make));
            let metrics = metrics.clone();
            tokio::spawn(async move {
                let lane = || run(&receiver, writer, &make, &metrics);
                panics::restarted(|| metrics.panicked(), lane).await;
            })
        });
        Self {
            queue: Mutex::new(Some(sender)),
            lanes: Mutex::new(lanes.collect()),
        }
    }

    /// Queues a write and waits for its result. If a caller stops waiting, the write still happens.
    pub(super) async fn make(&self, write: W) -> Result<T, StorageError> {
        let queue = lock(&self.queue).clone().ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { write, reply };
        queue.send(waiting).await.map_err(|_| closed())?;
        drop(queue);
        // A lane that panicked outside of every write dropped its group: the result of these writes
        // is unknown.
        answer.await.map_err(|_| match *lock(&self.queue) {
            Some(_) => StorageError::Panicked,
            None => closed(),
        })?
    }

    /// The number of waiting writes, under `name`.
    pub(super) fn queue(&self, name: &'static str) -> Queue {
        let waiting = lock(&self.queue)
            .as_ref()
            .map_or(0, |queue| queue.max_capacity() - queue.capacity());
        Queue {
            name,
            waiting,
            limit: QUEUE,
        }
    }

    /// Checks that every lane accepts writes. A lane that panics is started again; a lane only ends
    /// when it is stopped, or with the runtime.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if lock(&self.queue).is_none() {
            return Err(closed());
        }
        if lock(&self.lanes).iter().any(JoinHandle::is_finished) {
            return Err(StorageError::Unavailable(
                "a lane of its writes has ended, and the service must be restarted".to_owned(),
            ));
        }
        Ok(())
    }

    /// Executes the queued writes, and ends the lanes.
    pub(super) async fn stop(&self) {
        lock(&self.queue).take();
        let lanes = std::mem::take(&mut *lock(&self.lanes));
        for lane in lanes {
            let _ = lane.await;
        }
    }
}

/// Drops the queued writes, as a crash does.
impl<W, T> Drop for Lanes<W, T> {
    fn drop(&mut self) {
        for lane in lock(&self.lanes).iter() {
            lane.abort();
        }
    }
}

async fn run<W, T>(queue: &Writes<W, T>, number: i16, make: &Make<W, T>, metrics: &StorageMetrics) {
    loop {
        let mut group = Vec::new();
        if queue.lock().await.recv_many(&mut group, GROUP).await == 0 {
            return;
        }
        let (writes, replies): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|waiting| (waiting.write, waiting.reply))
            .unzip();
        let stopwatch = Stopwatch::start();
        let outcomes: Vec<_> = match panics::catch_async(make(number, &writes)).await {
            Ok(outcomes) => {
                metrics.committed(writes.len(), stopwatch);
                outcomes.into_iter().map(Ok).collect()
            }
            Err(error @ StorageError::Unavailable(_)) => all(&error, writes.len()),
            Err(error) if writes.len() == 1 => all(&error, 1),
            // One of the writes caused the failure: execute each in a statement of its own.
            Err(_) => {
                let mut outcomes = Vec::with_capacity(writes.len());
                for write in &writes {
                    let stopwatch = Stopwatch::start();
                    let alone = make(number, std::slice::from_ref(write));
                    let alone = panics::catch_async(alone).await;
                    if alone.is_ok() {
                        metrics.committed(1, stopwatch);
                    }
                    outcomes.push(alone.and_then(|mut alone| alone.pop().ok_or_else(closed)));
                }
                outcomes
            }
        };
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            if let Err(error) = &outcome {
                metrics.failed(error);
            }
            let _ = reply.send(outcome);
        }
    }
}

fn all<T>(error: &StorageError, count: usize) -> Vec<Result<T, StorageError>> {
    (0..count).map(|_| Err(error.clone())).collect()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn a_write_that_panics_fails_alone_and_its_lane_goes_on() {
        let metrics = StorageMetrics::default();
        let make: Make<i32, i32> = Arc::new(|_, writes| {
            Box::pin(async move {
                assert!(!writes.contains(&13), "a test's own panic");
                Ok(writes.to_vec())
            })
        });
        let lanes = Lanes::start(1, &metrics, &make);
        for round in 1..=5 {
            let answers = join_all((0..100).map(|write| lanes.make(write))).await;
            for (write, answer) in (0..).zip(answers) {
                match answer {
                    Ok(answer) => assert_eq!(answer, write),
                    Err(error) => {
                        assert!(matches!(error, StorageError::Panicked), "{error}");
                        assert_eq!(write, 13);
                    }
                }
            }
            assert_eq!(metrics.panics(), round);
            lanes.check().unwrap();
        }
    }

    /// Panics if a lane drops it, which happens outside of every write.
    struct Unwelcome;

    impl Drop for Unwelcome {
        fn drop(&mut self) {
            panic!("a test's own panic");
        }
    }

    #[tokio::test]
    async fn a_lane_that_panics_outside_of_a_write_is_started_again() {
        let make: Make<bool, Option<Unwelcome>> = Arc::new(|_, writes| {
            let made = writes.iter().map(|write| write.then(|| Unwelcome));
            let made: Vec<_> = made.collect();
            Box::pin(async { Ok(made) })
        });
        let metrics = StorageMetrics::default();
        let lanes = Lanes::start(1, &metrics, &make);
        // Each lane panics once, and one of them a second time.
        for panics in 1..=3 {
            // The caller is gone before the lane can send it the result.
            let mut abandoned = Box::pin(lanes.make(true));
            assert!((&mut abandoned).now_or_never().is_none());
            drop(abandoned);
            while metrics.panics() < panics {
                tokio::task::yield_now().await;
            }
            lanes.check().unwrap();
        }
        assert!(matches!(lanes.make(false).await, Ok(None)));
    }
}
