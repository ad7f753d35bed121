//! The open connections of a listener, and how long they are idle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// State of a connection whose request is being answered.
const BUSY: u64 = u64::MAX;
/// State of a connection whose request head is incomplete.
const HEAD: u64 = u64::MAX - 1;

/// When descriptors run short, one of this many idle connections is closed. The search looks at
/// every connection, so it must free several of them.
const CLOSED_OF: usize = 16;
/// Number of the newest idle connections that are never closed for others, because their requests
/// are probably on the way.
const SPARED: usize = 8;

/// The state of one connection. Only the task of the connection changes it.
pub(super) struct Activity {
    /// [`BUSY`], [`HEAD`], or the turn at which the connection became idle.
    state: AtomicU64,
    turns: Arc<AtomicU64>,
    /// Whether the connection was ever asked to close.
    asked: AtomicBool,
    close: Notify,
}

impl Activity {
    /// Records that bytes arrived.
    pub(super) fn received(&self) {
        if self.idle_since().is_some() {
            self.state.store(HEAD, Ordering::Relaxed);
        }
    }

    /// Whether a request head has begun: the connection is not idle.
    pub(super) fn has_begun(&self) -> bool {
        self.state.load(Ordering::Relaxed) == HEAD
    }

    /// Marks the connection as busy until the value is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.state.store(BUSY, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Whether the connection was ever asked to close. After that, check the socket itself for
    /// bytes: a runtime that had no time to run learns of them late.
    pub(super) fn was_asked_to_close(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Asks it to close. An open request may finish.
    pub(super) fn ask_to_close(&self) {
        // Set it before the task wakes up, because the task reads from the socket first.
        self.asked.store(true, Ordering::Relaxed);
        self.close.notify_one();
    }

    /// Waits until the connection is asked to close. The caller checks whether a request has begun.
    pub(super) async fn asked_to_close(&self) {
        self.close.notified().await;
    }

    fn idle_since(&self) -> Option<u64> {
        let state = self.state.load(Ordering::Relaxed);
        (state < HEAD).then_some(state)
    }
}

/// Held while a request is processed and its answer is sent. The connection is idle after it is
/// dropped.
pub(super) struct Busy(Arc<Activity>);

impl Drop for Busy {
    fn drop(&mut self) {
        let turn = self.0.turns.fetch_add(1, Ordering::Relaxed);
        self.0.state.store(turn, Ordering::Relaxed);
    }
}

/// All open connections of a listener.
#[derive(Default)]
pub(super) struct Connections {
    open: Mutex<HashMap<u64, Arc<Activity>>>,
    /// Counts connections that become idle. Only their order matters, so no clock is read.
    turns: Arc<AtomicU64>,
    one_ended: Notify,
}

impl Connections {
    /// Adds a connection, which is idle. It counts as open until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>) -> Connection {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        let activity = Arc::new(Activity {
            state: AtomicU64::new(turn),
            turns: Arc::clone(&self.turns),
            asked: AtomicBool::new(false),
            close: Notify::new(),
        });
        self.lock().insert(turn, Arc::clone(&activity));
        Connection {
            id: turn,
            activity,
            all: Arc::clone(self),
        }
    }

    /// Asks the connections to close that were idle longest. Returns `false` if there are none.
    pub(super) fn close_oldest_idle(&self) -> bool {
        let open = self.lock();
        let since = |activity: &Arc<Activity>| Some((activity.idle_since()?, Arc::clone(activity)));
        let mut idle: Vec<_> = open.values().filter_map(since).collect();
        drop(open);
        let Some(spare) = idle.len().checked_sub(SPARED).filter(|spare| *spare > 0) else {
            return false;
        };
        let count = spare.div_ceil(CLOSED_OF);
        idle.select_nth_unstable_by_key(count - 1, |(since, _)| *since);
        for (_, activity) in &idle[..count] {
            activity.ask_to_close();
        }
        true
    }

    /// Asks all connections to close.
    pub(super) fn close_all(&self) {
        for activity in self.lock().values() {
            activity.ask_to_close();
        }
    }

    /// Waits until no connection is open.
    pub(super) async fn ended(&self) {
        loop {
            let one_ended = self.one_ended.notified();
            if self.lock().is_empty() {
                return;
            }
            one_ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection. It counts as open until the value is dropped.
pub(super) struct Connection {
    id: u64,
    pub(super) activity: Arc<Activity>,
    all: Arc<Connections>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
        self.all.one_ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn closed(connections: &[Connection]) -> Vec<usize> {
        let asked = |one: &Connection| one.activity.asked_to_close().now_or_never().is_some();
        let all = connections.iter().enumerate();
        all.filter(|(_, one)| asked(one)).map(|(i, _)| i).collect()
    }

    #[test]
    fn the_connections_that_were_idle_for_longest_are_closed_first_and_the_newest_never() {
        let all = Arc::new(Connections::default());
        let mut open: Vec<_> = (0..CLOSED_OF + SPARED + 4).map(|_| all.open()).collect();
        // The first one answers a request, the second one reads a head, and the third one is idle
        // again.
        let busy = open[0].activity.busy();
        open[1].activity.received();
        drop(open[2].activity.busy());
        assert!(all.close_oldest_idle());
        assert_eq!(closed(&open), [3, 4]);
        drop(busy);
        let newest = open.split_off(open.len() - SPARED);
        drop(open);
        assert!(!all.close_oldest_idle());
        assert!(closed(&newest).is_empty());
    }
}
