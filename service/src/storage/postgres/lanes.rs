//! Writes of one kind on their way to the database: as many in a statement as
//! are waiting.
//!
//! There is no timer: under load writes queue while a commit is on its way to the
//! disk, and the next statement takes them all. There is more than one lane, so
//! that a write which waits for another node holds up its own lane alone. A write
//! that fails or panics does so alone: its lane goes on.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::metrics::Counter;
use crate::panics;
use crate::storage::StorageError;

/// Statements under way at the same time.
const LANES: i64 = 2;
/// Most writes in one statement.
const GROUP: usize = 256;
/// Writes that may wait; beyond it callers wait to enqueue.
const QUEUE: usize = 4096;

/// Makes writes in one statement: all of them, or none. `writer` is a number
/// that few lanes share, and none of this node.
pub(super) type Make<W, T> =
    Arc<dyn for<'a> Fn(i16, &'a [W]) -> BoxFuture<'a, Result<Vec<T>, StorageError>> + Send + Sync>;

/// A write and who waits for it.
struct Waiting<W, T> {
    write: W,
    reply: oneshot::Sender<Result<T, StorageError>>,
}

type Queue<W, T> = AsyncMutex<mpsc::Receiver<Waiting<W, T>>>;

/// The lanes of a node for one kind of write.
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
    /// The lanes of the node `number`. Writes that panic are counted in `panics`.
    pub(super) fn start(number: i64, panics: &Counter, make: &Make<W, T>) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let receiver = Arc::new(AsyncMutex::new(receiver));
        let lanes = (0..LANES).map(|lane| {
            let number = number.wrapping_mul(LANES).wrapping_add(lane);
            let writer = i16::try_from(number.rem_euclid(i64::from(i16::MAX))).unwrap_or_default();
            tokio::spawn(run(
                Arc::clone(&receiver),
                writer,
                Arc::clone(make),
                panics.clone(),
            ))
        });
        Self {
            queue: Mutex::new(Some(sender)),
            lanes: Mutex::new(lanes.collect()),
        }
    }

    /// Makes a write. A caller that stops waiting does not stop it.
    pub(super) async fn make(&self, write: W) -> Result<T, StorageError> {
        let queue = lock(&self.queue).clone().ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { write, reply };
        queue.send(waiting).await.map_err(|_| closed())?;
        drop(queue);
        answer.await.map_err(|_| closed())?
    }

    /// Makes what is queued, and ends.
    pub(super) async fn stop(&self) {
        lock(&self.queue).take();
        let lanes = std::mem::take(&mut *lock(&self.lanes));
        for lane in lanes {
            let _ = lane.await;
        }
    }
}

/// Drops what is queued, as a crash does.
impl<W, T> Drop for Lanes<W, T> {
    fn drop(&mut self) {
        for lane in lock(&self.lanes).iter() {
            lane.abort();
        }
    }
}

async fn run<W, T>(queue: Arc<Queue<W, T>>, number: i16, make: Make<W, T>, panics: Counter) {
    loop {
        let mut group = Vec::new();
        if queue.lock().await.recv_many(&mut group, GROUP).await == 0 {
            return;
        }
        let (writes, replies): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|waiting| (waiting.write, waiting.reply))
            .unzip();
        let outcomes: Vec<_> = match panics::catch_async(make(number, &writes)).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(error @ StorageError::Unavailable(_)) => all(&error, writes.len()),
            Err(error) if writes.len() == 1 => all(&error, 1),
            // One of them is at fault; each is made again alone.
            Err(_) => {
                let mut outcomes = Vec::with_capacity(writes.len());
                for write in &writes {
                    let alone = make(number, std::slice::from_ref(write));
                    let alone = panics::catch_async(alone).await;
                    outcomes.push(alone.and_then(|mut alone| alone.pop().ok_or_else(closed)));
                }
                outcomes
            }
        };
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            if matches!(outcome, Err(StorageError::Panicked)) {
                panics.inc();
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
    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn a_write_that_panics_fails_alone_and_its_lane_goes_on() {
        let panics = Counter::default();
        let make: Make<i32, i32> = Arc::new(|_, writes| {
            Box::pin(async move {
                assert!(!writes.contains(&13), "a test's own panic");
                Ok(writes.to_vec())
            })
        });
        let lanes = Lanes::start(1, &panics, &make);
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
            assert_eq!(panics.get(), round);
        }
    }
}
