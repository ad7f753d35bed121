//! The configuration plane: everything that owners set up. Its rules and its SQL are
//! written here, once for both databases.
//!
//! The seam to a database is narrow: values in, rows out ([`Query`], [`Transaction`]),
//! and an operation is a function over them that the database runs ([`Database`]). The
//! SQL in which they differ is in [`dialect`].
//!
//! What a tap does (record, key, payload, update), events, sweeps and migrations are not
//! here: there speed and races decide, and each database has its own way.

pub(super) mod administration;
pub(super) mod audit;
mod backups;
mod callers;
pub(super) mod counters;
pub(super) mod dialect;
mod encoding_runs;
mod encodings;
pub(super) mod experiences;
mod factory_orders;
mod free_tags;
mod images;
mod imports;
pub(super) mod inlays;
pub(super) mod interactions;
mod key_rotation;
mod master_keys;
mod reports;
mod sheets;
mod submissions;
pub(super) mod tags;
mod told;
mod url_templates;
mod virtual_inlays;
mod visitors;
pub(super) mod webhooks;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::value::{Row, Value, values};
use super::{Event, Part, StorageError};
use crate::audit::Note;
use crate::caller;
use crate::clock::Timestamp;
use crate::id::{InlayId, TagId};
use crate::inlay::counter::{CounterState, MirrorState};
use crate::scope::Reach;
use dialect::Dialect;
use tags::Ranking;

/// A statement and its parameters.
pub(super) type Question<'a> = (&'a str, &'a [Value<'a>]);

/// Questions to a database.
#[async_trait]
pub(super) trait Query: Send {
    /// Which of the two it is.
    fn dialect(&self) -> Dialect;

    /// What the caller may see. What is out of it is not there for them.
    fn reach(&self) -> &Reach {
        &Reach::EVERYTHING
    }

    /// The rows of a statement, which stays prepared. It is written as [`dialect`] says.
    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError>;

    /// The same of a statement that is made for this once, and planned for its very values.
    async fn query_once(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        self.query(sql, values).await
    }

    /// The rows of statements of which none depends on another's answer. A database at the
    /// other end of a network is asked all of them at once.
    async fn query_all(&mut self, asked: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StorageError> {
        let mut answers = Vec::with_capacity(asked.len());
        for (sql, values) in asked {
            answers.push(self.query(sql, values).await?);
        }
        Ok(answers)
    }

    /// The first row of a statement, if it has one.
    async fn row(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, StorageError> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    async fn one(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Row, StorageError> {
        let row = self.row(sql, values).await?;
        row.ok_or_else(|| StorageError::Failed("a row is missing".to_owned()))
    }

    /// The counts of a tag's taps, if they may be newer than its rows are.
    fn tag_counts(&self, _tag: TagId) -> Option<TagCounts> {
        None
    }

    /// The version of an inlay's keys and their counter, if they may be newer than its row is.
    fn counter(&self, _inlay: InlayId) -> Option<(u32, CounterState, MirrorState)> {
        None
    }

    /// The number that `SELECT count(*)` answers.
    async fn count(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        self.one(sql, values).await?.take()
    }

    /// Whether a statement has a row.
    async fn exists(&mut self, sql: &str, values: &[Value<'_>]) -> Result<bool, StorageError> {
        Ok(self.row(sql, values).await?.is_some())
    }
}

/// How often a tag was tapped, and when last.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagCounts {
    pub(super) scans: u64,
    pub(super) last_scan_at: Timestamp,
}

/// A transaction that changes configuration. What is changed for a caller is in the audit log,
/// by the commit of the change. No other one runs meanwhile, on no node:
/// what it reads stays so until it ends, but for what taps and updates write. Rows that
/// those write are locked with `FOR UPDATE` before they are changed here.
#[async_trait]
pub(super) trait Transaction: Query {
    /// The time that decides.
    fn now(&self) -> Timestamp;

    /// Runs a statement that answers no rows, and counts the rows it changed.
    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError>;

    /// Configuration is changed by this transaction: caches are void after its commit.
    fn changes_configuration(&mut self);

    /// The same, if nothing else that a cache holds is changed than this part; `None` for what
    /// none holds, but others hear of.
    fn changes(&mut self, _part: Option<Part>) {
        self.changes_configuration();
    }

    /// Tells the audit log what is changed; the last note counts. Without one, a change that
    /// writes rows has its row all the same: the resource that was addressed.
    fn note(&mut self, _: Note) {}

    /// What is changed shows nobody anything yet, or no more: it has no row in the audit log.
    fn is_no_change(&mut self) {}

    /// Makes the row of an inlay's counter what taps made of it. Taps that come wait until
    /// the transaction is over, and are decided by the row then.
    async fn lock_counter(&mut self, inlay: InlayId) -> Result<(), StorageError> {
        let lock = "SELECT 1 FROM counters WHERE inlay_id = ?1 FOR UPDATE";
        self.query(lock, &values![inlay]).await.map(drop)
    }

    /// Forgets that a client came to a tag; the tag's counts stay. The row of the empty client
    /// has them: taps lock it first, and so does this.
    async fn forget_visitor(&mut self, tag: TagId, client: &[u8]) -> Result<(), StorageError> {
        let lock = "SELECT 1 FROM visits WHERE tag_id = ?1 AND client = x'' FOR UPDATE";
        self.query(lock, &values![tag]).await?;
        let sql = "DELETE FROM visits WHERE tag_id = ?1 AND client = ?2";
        self.execute(sql, &values![tag, client]).await.map(drop)
    }
}

/// An operation that reads.
pub(super) type Read<A, T> =
    for<'t> fn(&'t mut (dyn Query + 't), &'t A) -> BoxFuture<'t, Result<T, StorageError>>;

/// An operation that writes. It may be run again, and what an earlier run wrote is taken
/// back then: it leaves nothing behind but rows.
pub(super) type Change<A, T> =
    for<'t> fn(&'t mut (dyn Transaction + 't), &'t A) -> BoxFuture<'t, Result<T, StorageError>>;

/// A database that runs operations. `name` is the operation's, for logs; `arguments` are
/// what it works with.
#[async_trait]
pub(super) trait Database: Send + Sync {
    /// The time that decides.
    async fn present(&self) -> Result<Timestamp, StorageError>;

    /// Writes the counts of taps that are not in their tables yet, if they are few: then a
    /// list can be in the newest order.
    async fn settle_few(&self) {}

    /// Tags in the orders of their taps, at most 30 s old, if the database does not order them
    /// fast enough by itself.
    async fn ranking(&self) -> Result<Option<Arc<Ranking>>, StorageError> {
        Ok(None)
    }

    /// Tells listeners, here and on other nodes, what was committed.
    fn tell(&self, event: Event);

    /// Runs an operation of one statement, or of several that need not agree, for whoever
    /// calls.
    async fn read<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let reach = caller::reach();
        if reach.limit().is_none() {
            return self.run_read(name, arguments, operation).await;
        }
        let called = (arguments, operation, reach);
        self.run_read(name, called, |db, called| {
            Box::pin(callers::read(db, called))
        })
        .await
    }

    /// Runs an operation whose statements all read as of one moment, for whoever calls.
    async fn read_snapshot<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let reach = caller::reach();
        if reach.limit().is_none() {
            return self.run_read_snapshot(name, arguments, operation).await;
        }
        let called = (arguments, operation, reach);
        self.run_read_snapshot(name, called, |db, called| {
            Box::pin(callers::read(db, called))
        })
        .await
    }

    /// Runs an operation in a transaction, for whoever calls, and returns after its commit is
    /// on disk.
    async fn change<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Change<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let Some(caller) = caller::current() else {
            return self.run_change(name, arguments, operation).await;
        };
        let called = (arguments, operation, Arc::clone(&caller));
        let (changed, recorded) = self
            .run_change(name, called, |tx, called| {
                Box::pin(callers::change(tx, called))
            })
            .await?;
        if recorded {
            caller.set_recorded();
        }
        Ok(changed)
    }

    /// What [`Self::read`] does for a caller whom nothing limits.
    async fn run_read<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static;

    /// What [`Self::read_snapshot`] does for a caller whom nothing limits.
    async fn run_read_snapshot<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Read<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static;

    /// What [`Self::change`] does for a caller whom nothing limits.
    async fn run_change<A, T>(
        &self,
        name: &'static str,
        arguments: A,
        operation: Change<A, T>,
    ) -> Result<T, StorageError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static;

    /// Runs one statement, which is a transaction by itself and waits for no other one.
    async fn change_at_once(
        &self,
        name: &'static str,
        sql: &'static str,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Row>, StorageError>;
}

/// Inserts rows into a table by statements of many rows. `then` ends each: what is answered
/// of a row (`RETURNING`), or what to do if it is there (`ON CONFLICT`).
async fn insert_rows(
    tx: &mut dyn Transaction,
    table: &str,
    columns: &[&str],
    rows: Vec<Vec<Value<'_>>>,
    then: &str,
) -> Result<Vec<Row>, StorageError> {
    let names = columns.join(", ");
    let mut answers = Vec::with_capacity(rows.len());
    let mut rest = rows.into_iter();
    for many in pieces(rest.len()) {
        let values: Vec<_> = rest.by_ref().take(many).flatten().collect();
        let places: Vec<_> = (0..many)
            .map(|row| {
                let places =
                    (1..=columns.len()).map(|place| format!("?{}", row * columns.len() + place));
                format!("({})", places.collect::<Vec<_>>().join(", "))
            })
            .collect();
        let sql = format!(
            "INSERT INTO {table} ({names}) VALUES {} {then}",
            places.join(", ")
        );
        answers.extend(tx.query(&sql, &values).await?);
    }
    Ok(answers)
}

/// In which pieces statements of many rows, or of many values, take `all` of them. Few
/// statements of other numbers stay prepared: pieces have powers of two up to 32.
fn pieces(all: usize) -> impl Iterator<Item = usize> {
    const AT_ONCE: usize = 32;
    let mut rest = all;
    std::iter::from_fn(move || {
        let many = 1 << AT_ONCE.min(rest).checked_ilog2()?;
        rest -= many;
        Some(many)
    })
}
