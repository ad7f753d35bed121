//! The shared part on SQLite. It writes on the writer thread, and reads on a thread that
//! may block. Every query is answered before it returns, so an operation's future is ready at once.

use std::ops::RangeBounds;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql, params_from_iter};
use send_wrapper::SendWrapper;

use super::SqliteStorage;
use super::fold::{Counter, Folded, Visit, Visitor};
use super::taps::record;
use super::writer::Write;
use crate::shared::dialect::Dialect;
use crate::shared::operation::{Changing, Erased, Moment, Reading};
use crate::shared::{Query, TagCounts, Transaction};
use crate::value::{Columns, Row, Value, unreadable, values};
use crate::{CachedPart, Event, StorageError};
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId};
use domain::interaction::{ClientId, NewInteraction, Recorded};
use inlay::counter::{CounterState, MirrorState};

/// Tap counts that can be written in a few milliseconds.
const FEW: usize = 2_000;

/// A connection that reads. The connection stays on its thread, and so do the futures that use it:
/// they are polled once, on the thread that created them.
struct Reader<'a> {
    connection: SendWrapper<&'a Connection>,
    folded: &'a Folded,
}

#[async_trait]
impl Query for Reader<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(&self.connection, sql, values)
    }

    fn tag_counts(&self, tag: TagId) -> Option<TagCounts> {
        self.folded.get(Visitor::everyone(Some(tag))).map(counts)
    }

    fn counter(&self, inlay: InlayId) -> Option<(u32, CounterState, MirrorState)> {
        self.folded.get(inlay).map(versioned)
    }
}

fn counts(visit: Visit) -> TagCounts {
    TagCounts {
        scans: visit.scans,
        last_scan_at: visit.last_at,
    }
}

fn versioned(counter: Counter) -> (u32, CounterState, MirrorState) {
    (counter.key_version, counter.state, counter.mirror())
}

/// The shared part's view of a writer command.
struct Command<'a, 'w>(SendWrapper<&'a mut Write<'w>>);

#[async_trait]
impl Query for Command<'_, '_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(self.0.connection, sql, values)
    }

    fn tag_counts(&self, tag: TagId) -> Option<TagCounts> {
        self.0.fold.peek(Visitor::everyone(Some(tag))).map(counts)
    }

    fn counter(&self, inlay: InlayId) -> Option<(u32, CounterState, MirrorState)> {
        self.0.fold.peek(inlay).map(versioned)
    }
}

#[async_trait]
impl Transaction for Command<'_, '_> {
    fn now(&self) -> Timestamp {
        self.0.now
    }

    fn others_wait(&self) -> bool {
        self.0.others_wait()
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        let sql = Dialect::Sqlite.say(sql);
        let mut statement = self.0.connection.prepare_cached(&sql)?;
        Ok(statement.execute(params_from_iter(values))? as u64)
    }

    async fn write(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        write(self.0.connection, sql, values)
    }

    fn changes(&mut self, part: Option<CachedPart>) {
        self.0.changes(part);
    }

    async fn lock_counter(&mut self, inlay: InlayId) -> Result<(), StorageError> {
        self.0.fold.hand_over_counter(inlay)
    }

    async fn record_tap(
        &mut self,
        _: Option<InteractionId>,
        tap: &NewInteraction,
    ) -> Result<(Recorded, Option<Event>), StorageError> {
        // The writer sends the event.
        Ok((record::tap(&mut self.0, tap)?, None))
    }

    async fn forget_visitor(&mut self, tag: TagId, client: &[u8]) -> Result<(), StorageError> {
        let id: [u8; 16] = client.try_into().map_err(|_| unreadable("client"))?;
        let sql = "DELETE FROM visits WHERE tag_id = ?1 AND client = ?2";
        self.execute(sql, &values![tag, client]).await?;
        self.0.fold.forget(Visitor::client(Some(tag), ClientId(id)));
        Ok(())
    }
}

impl SqliteStorage {
    pub(crate) async fn settle_few(&self) {
        if (1..=FEW).contains(&self.writer.folded().dirty()) {
            // If it fails, the order is only as old as the last fold.
            let _ = self.writer.settle().await;
        }
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn run_read(
        &self,
        name: &'static str,
        moment: Moment,
        operation: Box<dyn Reading>,
    ) -> Result<Erased, StorageError> {
        let folded = self.writer.folded().clone();
        self.read_long(move |connection| {
            folded.exactly(|| match moment {
                Moment::Each => ask(connection, &folded, &*operation),
                Moment::Same => {
                    let snapshot = connection.unchecked_transaction()?;
                    ask(&snapshot, &folded, &*operation)
                }
            })
        })
        .await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn run_change(
        &self,
        name: &'static str,
        operation: Box<dyn Changing>,
    ) -> Result<Erased, StorageError> {
        self.write(move |write| {
            let mut command = Command(SendWrapper::new(write));
            at_once(operation.run(&mut command))
        })
        .await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn change_at_once(
        &self,
        name: &'static str,
        sql: &'static str,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Row>, StorageError> {
        self.write(move |write| self::write(write.connection, sql, &values))
            .await
    }
}

/// Runs a reading operation on a connection.
fn ask(
    connection: &Connection,
    folded: &Folded,
    operation: &dyn Reading,
) -> Result<Erased, StorageError> {
    let mut reader = Reader {
        connection: SendWrapper::new(connection),
        folded,
    };
    at_once(operation.run(&mut reader))
}

/// The result of an operation. It waits only for the database, which answers at once.
fn at_once<T>(operation: BoxFuture<'_, Result<T, StorageError>>) -> Result<T, StorageError> {
    operation
        .now_or_never()
        .expect("a shared operation waits only for its database")
}

fn query(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StorageError> {
    let statement = connection.prepare_cached(&Dialect::Sqlite.say(sql))?;
    if !statement.readonly() {
        return Err(StorageError::Failed("a query writes".to_owned()));
    }
    rows(statement, values)
}

/// Runs a statement that writes.
fn write(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StorageError> {
    rows(
        connection.prepare_cached(&Dialect::Sqlite.say(sql))?,
        values,
    )
}

fn rows(
    mut statement: CachedStatement<'_>,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StorageError> {
    let mut found = statement.query(params_from_iter(values))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(self::row(row)?);
    }
    Ok(rows)
}

/// Reads a row in the shared form.
pub(super) fn row(found: &rusqlite::Row<'_>) -> Result<Row, StorageError> {
    columns(found, ..)
}

/// Reads some columns of a row in the shared form.
pub(super) fn columns(
    found: &rusqlite::Row<'_>,
    which: impl RangeBounds<usize>,
) -> Result<Row, StorageError> {
    let all = 0..found.as_ref().column_count();
    let some = all.filter(|column| which.contains(column));
    let values = some.map(|column| found.value(column).map(Value::into_owned));
    values.collect::<Result<_, _>>().map(Row::new)
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, StorageError> {
        Ok(match self.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| unreadable("text"))?;
                Value::Text(text.into())
            }
            ValueRef::Blob(bytes) => Value::Bytes(bytes.into()),
            ValueRef::Real(_) => return Err(unreadable("number")),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Flag(flag) => ValueRef::Integer(i64::from(*flag)),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
