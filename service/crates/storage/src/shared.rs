//! The code that both databases share: the rules and the SQL of all data that owners configure.
//!
//! The interface to a database is narrow: values in, rows out ([`Query`], [`Transaction`]). An
//! operation of [`Access`](crate::Access) is a function over these traits, and the database runs it. [`dialect`]
//! contains the SQL in which the databases differ.
//!
//! The path of a tap (record, key, payload, update), events, sweeps and migrations are not here:
//! they depend on speed and races, so each database has its own implementation.

pub(super) mod administration;
pub(super) mod audit;
mod backups;
mod batches;
pub(super) mod callers;
pub(super) mod certificates;
pub(super) mod counters;
pub(super) mod dialect;
mod encoding_runs;
pub(super) mod encodings;
mod erased_events;
pub(super) mod experiences;
mod factory_orders;
mod free_tags;
pub(super) mod groups;
mod images;
mod imports;
pub(super) mod inlays;
pub(super) mod interactions;
mod key_rotation;
mod mail;
mod master_keys;
pub(super) mod notifications;
pub(super) mod operation;
mod page_logo;
mod phones;
mod reports;
mod sheets;
mod staff_notes;
mod submissions;
pub(super) mod tags;
mod unlisted;
mod url_templates;
mod virtual_inlays;
mod visitors;
pub(super) mod webhooks;

use std::fmt::Write as _;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::value::{Row, Value, values};
use super::{CachedPart, Event, StorageError};
use dialect::Dialect;
use domain::audit::Note;
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId};
use domain::interaction::{NewInteraction, Recorded};
use domain::scope::Reach;
use inlay::counter::{CounterState, MirrorState};

/// A statement and its parameters.
pub(super) type Question<'a> = (&'a str, &'a [Value<'a>]);

/// Queries to a database.
#[async_trait]
pub(super) trait Query: Send {
    /// The SQL dialect of the database.
    fn dialect(&self) -> Dialect;

    /// The caller's reach. Objects outside of it do not exist for the caller.
    fn reach(&self) -> &Reach {
        &Reach::EVERYTHING
    }

    /// The rows of a statement, which stays prepared. [`dialect`] describes its SQL.
    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError>;

    /// Like [`Self::query`], for a statement that is not kept: the database plans it for these
    /// values.
    async fn query_once(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        self.query(sql, values).await
    }

    /// The rows of statements that do not depend on each other's results. A database across a
    /// network gets all of them at once.
    async fn query_all(&mut self, asked: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StorageError> {
        let mut answers = Vec::with_capacity(asked.len());
        for (sql, values) in asked {
            answers.push(self.query(sql, values).await?);
        }
        Ok(answers)
    }

    /// The first row of a statement's result, if there is one.
    async fn row(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, StorageError> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    async fn one(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Row, StorageError> {
        let row = self.row(sql, values).await?;
        row.ok_or_else(missing)
    }

    /// A tag's tap counts from memory, if they may be newer than its rows.
    fn tag_counts(&self, _tag: TagId) -> Option<TagCounts> {
        None
    }

    /// An inlay's key version and counters from memory, if they may be newer than its row.
    fn counter(&self, _inlay: InlayId) -> Option<(u32, CounterState, MirrorState)> {
        None
    }

    /// The result of a `SELECT count(*)` statement.
    async fn count(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        self.one(sql, values).await?.take()
    }

    /// Whether a statement's result has a row.
    async fn exists(&mut self, sql: &str, values: &[Value<'_>]) -> Result<bool, StorageError> {
        Ok(self.row(sql, values).await?.is_some())
    }
}

fn missing() -> StorageError {
    StorageError::Failed("a row is missing".to_owned())
}

/// How often a tag was tapped, and when last.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagCounts {
    pub(super) scans: u64,
    pub(super) last_scan_at: Timestamp,
}

/// A transaction that changes the configuration. The commit of a caller's change also contains its
/// row in the audit log. Only one such transaction runs at a time, over all nodes: the data that it
/// reads stays unchanged until it ends, except rows that taps and updates write. Those must be
/// locked with `FOR UPDATE` before they are changed here.
#[async_trait]
pub(super) trait Transaction: Query {
    /// The database's current time: the time by which it decides about keys.
    fn now(&self) -> Timestamp;

    /// Whether others wait for the end of this transaction. A long operation then ends early. `true`
    /// if the database does not know it.
    fn others_wait(&self) -> bool {
        true
    }

    /// Runs a statement without a result, and returns how many rows it changed.
    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError>;

    /// Runs a statement that writes, and returns the rows of its `RETURNING`. SQLite
    /// refuses such statements in [`Query::query`]: the audit log learns of a write from the function that ran it.
    async fn write(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError>;

    /// The row of a [`Self::write`] that always returns one.
    async fn write_one(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Row, StorageError> {
        let row = self.write(sql, values).await?.pop();
        row.ok_or_else(missing)
    }

    /// Marks this transaction as a change of the configuration: its commit invalidates this part of
    /// the caches on all nodes. `None` means that no cache holds the changed data, but other nodes are
    /// notified.
    fn changes(&mut self, part: Option<CachedPart>);

    /// Whether the audit log gets a note: not for the service's own work.
    fn takes_notes(&self) -> bool {
        false
    }

    /// Describes the change for the audit log; the last note counts. A change that writes rows is
    /// recorded even without a note, with the addressed resource.
    fn note(&mut self, _: Note) {}

    /// Leaves this change out of the audit log, because it has no visible effect yet, or no longer.
    fn is_no_change(&mut self) {}

    /// Writes an inlay's current counter, as taps have moved it, into its row. Later taps wait
    /// until the transaction ends, and are then decided by the row.
    async fn lock_counter(&mut self, inlay: InlayId) -> Result<(), StorageError> {
        let lock = "SELECT 1 FROM counters WHERE inlay_id = ?1 FOR UPDATE";
        self.query(lock, &values![inlay]).await.map(drop)
    }

    /// Records a tap in this transaction. `id` is its id, if the database reserves ids. The returned
    /// event, if there is one, must be sent after the commit.
    async fn record_tap(
        &mut self,
        id: Option<InteractionId>,
        tap: &NewInteraction,
    ) -> Result<(Recorded, Option<Event>), StorageError>;

    /// Forgets that a client came to a tag; the tag's counts stay. They are in the row of the empty
    /// client, which is locked first, as taps do.
    async fn forget_visitor(&mut self, tag: TagId, client: &[u8]) -> Result<(), StorageError> {
        let lock = "SELECT 1 FROM visits WHERE tag_id = ?1 AND client = x'' FOR UPDATE";
        self.query(lock, &values![tag]).await?;
        let sql = "DELETE FROM visits WHERE tag_id = ?1 AND client = ?2";
        self.execute(sql, &values![tag, client]).await.map(drop)
    }
}

/// An operation that only reads.
pub(super) type Read<A, T> =
    for<'t> fn(&'t mut (dyn Query + 't), &'t A) -> BoxFuture<'t, Result<T, StorageError>>;

/// An operation that writes. It may run again after a rollback, so it must have no effects other
/// than rows.
pub(super) type Change<A, T> =
    for<'t> fn(&'t mut (dyn Transaction + 't), &'t A) -> BoxFuture<'t, Result<T, StorageError>>;

/// Inserts rows into a table with multi-row statements. `then` ends each statement: a `RETURNING`
/// or `ON CONFLICT` clause.
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
        let mut sql = format!("INSERT INTO {table} ({names}) VALUES ");
        // A statement has hundreds of places, so none of them gets a text of its own.
        for place in 0..values.len() {
            let before = match place % columns.len() {
                0 if place == 0 => "(",
                0 => "), (",
                _ => ", ",
            };
            let _ = write!(sql, "{before}?{}", place + 1);
        }
        sql.push_str(") ");
        sql.push_str(then);
        answers.extend(tx.write(&sql, &values).await?);
    }
    Ok(answers)
}

/// The sizes of the pieces in which statements of many rows, or of many values, handle `all` of
/// them. They are powers of two up to 32, so that only few different statements stay prepared.
fn pieces(all: usize) -> impl Iterator<Item = usize> {
    const AT_ONCE: usize = 32;
    let mut rest = all;
    std::iter::from_fn(move || {
        let many = 1 << AT_ONCE.min(rest).checked_ilog2()?;
        rest -= many;
        Some(many)
    })
}
