//! Taps on their way to the database: as many in a statement as are waiting.
//!
//! There is no timer: under load taps queue while a commit is on its way to the
//! disk, and the next statement takes them all. There is more than one lane, so
//! that a tap which waits for another node holds up its own lane alone.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::node::Node;
use super::taps::record;
use crate::interaction::{NewInteraction, Recorded};
use crate::storage::StorageError;

/// Statements under way at the same time.
const LANES: i64 = 2;
/// Most taps in one statement.
const GROUP: usize = 256;
/// Taps that may wait; beyond it callers wait to enqueue.
const QUEUE: usize = 4096;

/// A tap and who waits for it.
struct Waiting {
    tap: NewInteraction,
    reply: oneshot::Sender<Result<Recorded, StorageError>>,
}

type Queue = AsyncMutex<mpsc::Receiver<Waiting>>;

/// The lanes of a node.
pub(super) struct Lanes {
    queue: Mutex<Option<mpsc::Sender<Waiting>>>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
}

fn closed() -> StorageError {
    StorageError::Unavailable("it is closed".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lanes {
    pub(super) fn start(node: &Arc<Node>) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let receiver = Arc::new(AsyncMutex::new(receiver));
        let lanes = (0..LANES).map(|lane| {
            let number = node.number.wrapping_mul(LANES).wrapping_add(lane);
            let writer = i16::try_from(number.rem_euclid(i64::from(i16::MAX))).unwrap_or_default();
            tokio::spawn(run(Arc::clone(node), Arc::clone(&receiver), writer))
        });
        Self {
            queue: Mutex::new(Some(sender)),
            lanes: Mutex::new(lanes.collect()),
        }
    }

    /// Records a tap. A caller that stops waiting does not stop it.
    pub(super) async fn record(&self, tap: NewInteraction) -> Result<Recorded, StorageError> {
        let queue = lock(&self.queue).clone().ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { tap, reply };
        queue.send(waiting).await.map_err(|_| closed())?;
        drop(queue);
        answer.await.map_err(|_| closed())?
    }

    /// Records what is queued, and ends.
    pub(super) async fn stop(&self) {
        lock(&self.queue).take();
        let lanes = std::mem::take(&mut *lock(&self.lanes));
        for lane in lanes {
            let _ = lane.await;
        }
    }
}

/// Drops what is queued, as a crash does.
impl Drop for Lanes {
    fn drop(&mut self) {
        for lane in lock(&self.lanes).iter() {
            lane.abort();
        }
    }
}

async fn run(node: Arc<Node>, queue: Arc<Queue>, writer: i16) {
    loop {
        let mut group = Vec::new();
        if queue.lock().await.recv_many(&mut group, GROUP).await == 0 {
            return;
        }
        let (taps, replies): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|waiting| (waiting.tap, waiting.reply))
            .unzip();
        let outcomes = match record::taps(&node, writer, &taps).await {
            Ok(recorded) => recorded.into_iter().map(Ok).collect(),
            Err(error @ StorageError::Unavailable(_)) => vec![Err(error); taps.len()],
            Err(error) if taps.len() == 1 => vec![Err(error)],
            // One of them is at fault; each runs again alone.
            Err(_) => {
                let mut outcomes = Vec::with_capacity(taps.len());
                for tap in &taps {
                    let alone = record::taps(&node, writer, std::slice::from_ref(tap)).await;
                    let alone = alone.and_then(|mut alone| alone.pop().ok_or_else(closed));
                    outcomes.push(alone);
                }
                outcomes
            }
        };
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            let _ = reply.send(outcome);
        }
    }
}
