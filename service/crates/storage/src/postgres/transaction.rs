//! Transactions of several statements: those that write configuration, one at a time over all
//! nodes, and those that read as of one moment.

use std::ops::Deref;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::connection::ANSWER;
use super::epoch::announcement;
use super::node::Node;
use super::session::Session;
use crate::epochs::Changed;
use crate::{CachedPart, StorageError};
use domain::clock::{Stopwatch, Timestamp};

/// The class of this program's advisory locks ("TAPD").
pub(super) const LOCKS: i32 = i32::from_be_bytes(*b"TAPD");
/// Held while the schema is examined or changed.
pub(super) const SCHEMA_LOCK: i32 = 1;
/// Shared by all nodes, and held exclusively by a move.
pub(super) const SERVED_LOCK: i32 = 5;
/// Held by the transaction that writes configuration.
const CONFIGURATION_LOCK: i32 = 2;

/// Time limit of a statement in these transactions, including the wait for others.
const STATEMENT: Duration = Duration::from_secs(30);
const PATIENCE: Duration = STATEMENT.saturating_add(Duration::from_secs(1));
/// Pause between two queries for the result of a commit.
const PAUSE: Duration = Duration::from_millis(100);

/// A transaction. If it is dropped before it ends, its connection is closed.
struct Transaction {
    session: Session,
}

impl Transaction {
    async fn begin(session: Session, mode: &str) -> Result<Self, StorageError> {
        // If the caller stops waiting, the connection is closed, so that no transaction stays open.
        session.give_up();
        let limit = STATEMENT.as_millis();
        session
            .batch(&format!(
                "BEGIN {mode}; SET LOCAL statement_timeout = {limit}"
            ))
            .await?;
        Ok(Self {
            session: session.patient(PATIENCE),
        })
    }

    async fn end(self, how: &str) -> Result<(), StorageError> {
        self.session.batch(how).await?;
        self.session.keep();
        Ok(())
    }
}

/// A transaction that writes. Only one runs at a time, over all nodes: the data that it reads stays
/// unchanged until it ends, except rows that taps and updates write.
pub(super) struct Write {
    transaction: Transaction,
    /// The time of the transaction, by which it decides about keys.
    pub(super) now: Timestamp,
    /// The parts of the configuration that it changes.
    pub(super) changed: Changed,
    stopwatch: Stopwatch,
}

impl Deref for Write {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.transaction.session
    }
}

/// A transaction that reads everything as of its beginning.
pub(super) struct Snapshot(Transaction);

impl Deref for Snapshot {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0.session
    }
}

impl Snapshot {
    /// Ends the transaction. If the value is dropped instead, its connection is closed.
    pub(super) async fn end(self) -> Result<(), StorageError> {
        self.0.end("COMMIT").await
    }
}

impl Node {
    /// Begins a transaction that only reads, and may take long.
    pub(super) async fn snapshot(&self) -> Result<Snapshot, StorageError> {
        let mode = "ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let transaction = Transaction::begin(self.session().await?, mode).await?;
        Ok(Snapshot(transaction))
    }

    /// Begins a transaction that writes. Its result must be passed to [`Self::end`].
    pub(super) async fn begin(&self) -> Result<Write, StorageError> {
        let begun = self.try_begin().await;
        begun.inspect_err(|error| self.metrics.failed(error))
    }

    async fn try_begin(&self) -> Result<Write, StorageError> {
        let stopwatch = Stopwatch::start();
        let transaction = Transaction::begin(self.session().await?, "").await?;
        let now = transaction
            .session
            .one(
                "SELECT present() FROM pg_advisory_xact_lock($1, $2)",
                &[&LOCKS, &CONFIGURATION_LOCK],
            )
            .await?;
        Ok(Write {
            transaction,
            now: Timestamp::from_millis(now.get(0)),
            changed: Changed::default(),
            stopwatch,
        })
    }

    /// Commits if `outcome` is `Ok`, and otherwise rolls back.
    pub(super) async fn end<T>(
        &self,
        write: Write,
        outcome: Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let ended = self.try_end(write, outcome).await;
        ended.inspect_err(|error| {
            // A panic was counted where it was caught.
            if !matches!(error, StorageError::Panicked) {
                self.metrics.failed(error);
            }
        })
    }

    async fn try_end<T>(
        &self,
        write: Write,
        outcome: Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let Write {
            transaction,
            changed,
            stopwatch,
            ..
        } = write;
        let value = match outcome {
            Ok(value) => value,
            Err(error) => {
                // If this fails, the connection is closed, which rolls back, too.
                let _ = transaction.end("ROLLBACK").await;
                return Err(error);
            }
        };
        let epoch = match changed.parts() {
            Some(parts) => Some((next_epoch(&transaction.session, parts).await?, parts)),
            None => None,
        };
        let number = transaction
            .session
            .one("SELECT pg_current_xact_id_if_assigned()::TEXT", &[])
            .await?;
        let number: Option<String> = number.get(0);
        let writes = number.is_some();
        if let Err(error) = transaction.end("COMMIT").await {
            match number {
                Some(number) if matches!(error, StorageError::Unavailable(_)) => {
                    self.resolve(&number).await?;
                }
                _ => return Err(error),
            }
        }
        if writes {
            self.metrics.committed(1, stopwatch);
        }
        if let Some((epoch, parts)) = epoch {
            self.epoch.learn(epoch, Some(parts));
        }
        Ok(value)
    }

    /// Whether the transaction `number`, whose commit got no answer, was committed. It asks the
    /// database until the answer is certain.
    async fn resolve(&self, number: &str) -> Result<(), StorageError> {
        let unknown = || StorageError::Unavailable("the answer to a commit was lost".to_owned());
        let status = async {
            loop {
                match self.status(number).await {
                    Ok(Some(status)) if status != "in progress" => return status,
                    _ => sleep(PAUSE).await,
                }
            }
        };
        match timeout(ANSWER, status).await {
            Ok(status) if status == "committed" => Ok(()),
            _ => Err(unknown()),
        }
    }

    async fn status(&self, number: &str) -> Result<Option<String>, StorageError> {
        let session = self.session().await?;
        let row = session
            .one("SELECT pg_xact_status($1::TEXT::XID8)", &[&number])
            .await?;
        Ok(row.get(0))
    }
}

/// Increases the epoch; all nodes are notified of it and of the changed parts with the commit.
async fn next_epoch(session: &Session, changed: &[CachedPart]) -> Result<u64, StorageError> {
    let row = session
        .one(
            "WITH raised AS (UPDATE configuration SET epoch = epoch + 1 RETURNING epoch)
             SELECT epoch FROM raised, pg_notify('tapdesk_configuration', epoch::TEXT || $1::TEXT)",
            &[&announcement::of(changed)],
        )
        .await?;
    Ok(row.get::<_, i64>(0).unsigned_abs())
}
