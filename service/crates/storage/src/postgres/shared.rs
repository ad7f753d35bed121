//! The shared part on PostgreSQL. It reads on any connection, and writes in transactions
//! that run one at a time.

use std::error::Error;

use async_trait::async_trait;
use bytes::BytesMut;
use futures_util::future::try_join_all;
use tokio_postgres::Column;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::PostgresStorage;
use super::session::Session;
use super::taps::record;
use super::transaction::Write;
use crate::shared::dialect::Dialect;
use crate::shared::operation::{Changing, Erased, Moment, Reading};
use crate::shared::{Query, Question, Transaction};
use crate::value::{Columns, Row, Value, unreadable};
use crate::{CachedPart, Event, StorageError};
use domain::clock::{Stopwatch, Timestamp};
use domain::id::InteractionId;
use domain::interaction::{NewInteraction, Recorded};

/// A connection that reads.
struct Reader<'a>(&'a Session);

#[async_trait]
impl Query for Reader<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(self.0, sql, values).await
    }

    async fn query_once(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        let sql = Dialect::Postgres.say(sql);
        let values: Vec<_> = values
            .iter()
            .map(|value| (value as _, kind(value)))
            .collect();
        rows(&self.0.rows_once(&sql, &values).await?)
    }

    async fn query_all(&mut self, asked: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StorageError> {
        query_all(self.0, asked).await
    }
}

#[async_trait]
impl Query for Write {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(self, sql, values).await
    }

    async fn query_all(&mut self, asked: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StorageError> {
        query_all(self, asked).await
    }
}

#[async_trait]
impl Transaction for Write {
    fn now(&self) -> Timestamp {
        self.now
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        self.run(&Dialect::Postgres.say(sql), &parameters(values))
            .await
    }

    async fn write(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        query(self, sql, values).await
    }

    fn changes(&mut self, part: Option<CachedPart>) {
        self.changed.add(part);
    }

    async fn record_tap(
        &mut self,
        id: Option<InteractionId>,
        tap: &NewInteraction,
    ) -> Result<(Recorded, Option<Event>), StorageError> {
        let id = id.ok_or_else(|| StorageError::Failed("a tap has no id".to_owned()))?;
        let (recorded, event) = record::within(self, id, tap).await?;
        Ok((recorded, Some(event)))
    }
}

impl PostgresStorage {
    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn run_read(
        &self,
        name: &'static str,
        moment: Moment,
        operation: Box<dyn Reading>,
    ) -> Result<Erased, StorageError> {
        match moment {
            Moment::Each => {
                let session = self.session().await?;
                let mut reader = Reader(&session);
                self.contained(operation.run(&mut reader)).await
            }
            Moment::Same => {
                let snapshot = self.snapshot().await?;
                let mut reader = Reader(&snapshot);
                let read = self.contained(operation.run(&mut reader)).await?;
                snapshot.end().await?;
                Ok(read)
            }
        }
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn run_change(
        &self,
        name: &'static str,
        operation: Box<dyn Changing>,
    ) -> Result<Erased, StorageError> {
        let mut write = self.begin().await?;
        let changed = self.contained(operation.run(&mut write)).await;
        self.end(write, changed).await
    }

    #[tracing::instrument(name = "storage", level = "debug", skip_all, fields(operation = name))]
    pub(crate) async fn change_at_once(
        &self,
        name: &'static str,
        sql: &'static str,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Row>, StorageError> {
        let stopwatch = Stopwatch::start();
        let rows = query(&self.session().await?, sql, &values).await;
        match &rows {
            Ok(_) => self.metrics.committed(1, stopwatch),
            Err(error) => self.metrics.failed(error),
        }
        rows
    }
}

async fn query(
    session: &Session,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StorageError> {
    let sql = Dialect::Postgres.say(sql);
    rows(&session.rows(&sql, &parameters(values)).await?)
}

/// Sends all statements before the first answer arrives.
async fn query_all(
    session: &Session,
    asked: &[Question<'_>],
) -> Result<Vec<Vec<Row>>, StorageError> {
    try_join_all(
        asked
            .iter()
            .map(|(sql, values)| query(session, sql, values)),
    )
    .await
}

/// Converts values into the parameters of a statement.
pub(super) fn parameters<'a>(values: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as _).collect()
}

/// The type of a parameter for which the statement implies none.
fn kind(value: &Value<'_>) -> Type {
    match value {
        Value::Integer(_) => Type::INT8,
        Value::Flag(_) => Type::BOOL,
        Value::Bytes(_) => Type::BYTEA,
        Value::Text(_) | Value::Null => Type::TEXT,
    }
}

/// Converts rows into the shared form.
pub(super) fn rows(found: &[tokio_postgres::Row]) -> Result<Vec<Row>, StorageError> {
    found.iter().map(row).collect()
}

/// Converts one row into the shared form.
pub(super) fn row(found: &tokio_postgres::Row) -> Result<Row, StorageError> {
    let values = (0..found.len()).map(|column| found.value(column).map(Value::into_owned));
    values.collect::<Result<_, _>>().map(Row::new)
}

impl Columns for tokio_postgres::Row {
    fn value(&self, column: usize) -> Result<Value<'_>, StorageError> {
        let of = self.columns().get(column).map(Column::type_);
        Ok(match of {
            Some(&Type::INT8) => self.try_get::<_, Option<i64>>(column)?.into(),
            Some(&Type::INT4) => self
                .try_get::<_, Option<i32>>(column)?
                .map(i64::from)
                .into(),
            Some(&Type::INT2) => self
                .try_get::<_, Option<i16>>(column)?
                .map(i64::from)
                .into(),
            Some(&Type::BOOL) => self.try_get::<_, Option<bool>>(column)?.into(),
            Some(&Type::TEXT) => self.try_get::<_, Option<&str>>(column)?.into(),
            Some(&Type::BYTEA) => self.try_get::<_, Option<&[u8]>>(column)?.into(),
            _ => return Err(unreadable("column")),
        })
    }
}

/// Converts a value into the type that the statement gives its parameter.
impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => match *of {
                Type::INT4 => i32::try_from(*number)?.to_sql_checked(of, out),
                Type::INT2 => i16::try_from(*number)?.to_sql_checked(of, out),
                _ => number.to_sql_checked(of, out),
            },
            Self::Flag(flag) => flag.to_sql_checked(of, out),
            // The binary form of both types is the text itself.
            Self::Text(text) if *of == Type::JSON => text.as_ref().to_sql(&Type::TEXT, out),
            Self::Text(text) => text.as_ref().to_sql_checked(of, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql_checked(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
