//! The configuration plane on SQLite: it writes on the writer thread, and reads on a thread
//! that may block. Every question is answered before it returns, so that an operation's
//! future is ready at once.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use send_wrapper::SendWrapper;

use super::SqliteStorage;
use super::writer::Write;
use crate::clock::Timestamp;
use crate::storage::StorageError;
use crate::storage::plane::dialect::Dialect;
use crate::storage::plane::{Change, Database, Query, Read, Transaction};
use crate::storage::value::{Row, Value, unreadable};

/// A connection that reads. A connection stays on its thread, and so do the futures that
/// have it: they are polled once, where they are made.
struct Reader<'a>(SendWrapper<&'a Connection>);

#[async_trait]
impl Query for Reader<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(&self.0, sql, values)
    }
}

/// A command of the writer.
struct Command<'a, 'w>(SendWrapper<&'a mut Write<'w>>);

#[async_trait]
impl Query for Command<'_, '_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(self.0.connection, sql, values)
    }
}

#[async_trait]
impl Transaction for Command<'_, '_> {
    fn now(&self) -> Timestamp {
        self.0.now
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        let sql = Dialect::Sqlite.say(sql);
        let mut statement = self.0.connection.prepare_cached(&sql)?;
        Ok(statement.execute(params_from_iter(values))? as u64)
    }

    fn changes_configuration(&mut self) {
        self.0.changes_configuration();
    }
}

#[async_trait]
impl Database for SqliteStorage {
    async fn present(&self) -> Result<Timestamp, StorageError> {
        Ok(self.clock.now())
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
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
        self.read_long(move |connection| {
            let mut reader = Reader(SendWrapper::new(connection));
            at_once(operation(&mut reader, &arguments))
        })
        .await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
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
        self.read_long(move |connection| {
            let snapshot = connection.unchecked_transaction()?;
            let mut reader = Reader(SendWrapper::new(&snapshot));
            at_once(operation(&mut reader, &arguments))
        })
        .await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
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
        self.write(move |write| {
            let mut command = Command(SendWrapper::new(write));
            at_once(operation(&mut command, &arguments))
        })
        .await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    async fn change_at_once(
        &self,
        name: &'static str,
        sql: &'static str,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Row>, StorageError> {
        self.write(move |write| query(write.connection, sql, &values))
            .await
    }
}

/// What an operation comes to. It waits for nothing but the database, which answers at once.
fn at_once<T>(operation: BoxFuture<'_, Result<T, StorageError>>) -> Result<T, StorageError> {
    operation
        .now_or_never()
        .expect("an operation of the plane waits for its database alone")
}

fn query(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StorageError> {
    let mut statement = connection.prepare_cached(&Dialect::Sqlite.say(sql))?;
    let mut found = statement.query(params_from_iter(values))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(self::row(row)?);
    }
    Ok(rows)
}

/// A row as the plane reads it.
pub(super) fn row(found: &rusqlite::Row<'_>) -> Result<Row, StorageError> {
    let columns = found.as_ref().column_count();
    let values = (0..columns).map(|column| value(found.get_ref(column)?));
    values.collect::<Result<_, _>>().map(Row::new)
}

fn value(stored: ValueRef<'_>) -> Result<Value<'static>, StorageError> {
    Ok(match stored {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| unreadable("text"))?;
            Value::Text(text.to_owned().into())
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec().into()),
        ValueRef::Real(_) => return Err(unreadable("number")),
    })
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
