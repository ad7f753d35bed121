//! A database's measurements of its own work, for operators.
//!
//! A group of writes is measured once, by the component that commits it, so that a tap pays for no
//! measurement. No metric contains a tag or a key.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::StorageError;
use domain::clock::Stopwatch;

/// Bounds of the commit time, in seconds. A commit is one sync of a disk: 0.1 ms on a fast SSD, 1
/// ms on a common one, 10 ms on a spinning disk; PostgreSQL adds a network round trip. From 250 ms
/// on, visitors notice; after 4 s, PostgreSQL counts as unavailable.
const COMMIT_SECONDS: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 4.0,
];

/// The metrics of a database. Clones share the same values.
#[derive(Clone, Debug)]
pub struct StorageMetrics {
    commit_seconds: Histogram,
    commit_writes: Histogram,
    write_failures: Family<Failure, Counter>,
    panics: Counter,
    events_lost: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failure {
    reason: &'static str,
}

/// Label values of every reason for which a write fails.
const FAILURES: [&str; 3] = ["full", "unavailable", "failed"];

/// Writes that wait for their commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The queue's name: `writes`, or `taps` and `updates` if they have separate lanes.
    pub name: &'static str,
    /// How many writes wait.
    pub waiting: usize,
    /// How many writes may wait; further callers wait before they enqueue.
    pub limit: usize,
}

impl Default for StorageMetrics {
    fn default() -> Self {
        let write_failures = Family::<Failure, Counter>::default();
        // Creating each counter now makes its first increment visible, because it starts at 0.
        for reason in FAILURES {
            drop(write_failures.get_or_create(&Failure { reason }));
        }
        Self {
            commit_seconds: Histogram::new(COMMIT_SECONDS),
            // Up to 256 writes, the largest group of either database.
            commit_writes: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            write_failures,
            panics: Counter::default(),
            events_lost: Counter::default(),
        }
    }
}

impl StorageMetrics {
    /// Registers the metrics in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "commit",
            "Time from the beginning of a group of writes until it is on disk",
            Unit::Seconds,
            self.commit_seconds.clone(),
        );
        registry.register(
            "commit_writes",
            "Writes in a commit",
            self.commit_writes.clone(),
        );
        registry.register(
            "write_failures",
            "Writes that the database failed to store, by reason",
            self.write_failures.clone(),
        );
        registry.register(
            "storage_panics",
            "Operations and tasks of the database that panicked",
            self.panics.clone(),
        );
        registry.register(
            "events_lost",
            "Events that a listener or another node missed",
            self.events_lost.clone(),
        );
    }

    /// Records that `writes` were committed together, in the time on `stopwatch`.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a group has at most a few hundred writes"
    )]
    pub(super) fn committed(&self, writes: usize, stopwatch: Stopwatch) {
        self.commit_seconds
            .observe(stopwatch.elapsed().as_secs_f64());
        self.commit_writes.observe(writes as f64);
    }

    /// Records that a write failed with `error`. A conflict is an answer, and is not counted.
    pub(super) fn failed(&self, error: &StorageError) {
        let reason = match error {
            StorageError::Panicked => return self.panicked(),
            StorageError::Full => "full",
            StorageError::Unavailable(_) => "unavailable",
            StorageError::Failed(_) => "failed",
            StorageError::Conflict(_) | StorageError::Unsupported(_) => return,
        };
        self.write_failures.get_or_create(&Failure { reason }).inc();
    }

    /// Records a panic: of an operation, which was rolled back and failed by itself; or of a task,
    /// which was started again.
    pub(super) fn panicked(&self) {
        self.panics.inc();
    }

    /// Records that a listener, or another node, missed `events` events.
    pub fn lost_events(&self, events: u64) {
        self.events_lost.inc_by(events);
    }

    /// How many operations and tasks panicked.
    pub fn panics(&self) -> u64 {
        self.panics.get()
    }
}
