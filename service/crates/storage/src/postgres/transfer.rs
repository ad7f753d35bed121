//! PostgreSQL as the source or destination of a move. Rows are read and written by `COPY`.

use std::io::Cursor;
use std::pin::pin;

use async_trait::async_trait;
use futures_util::{SinkExt as _, TryStreamExt as _};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::connection::{connect, drain, set_up};
use super::migrate::{self, OpenError, reason};
use super::row::unreadable;
use super::shared::{parameters, row};
use super::transaction::{LOCKS, SERVED_LOCK};
use crate::StorageError;
use crate::catalogue::{Column, Kind, Table};
use crate::shared::administration::ANY_WRAPPED_KEY;
use crate::shared::audit;
use crate::shared::dialect::Dialect;
use crate::transfer::mark::{self, Mark};
use crate::transfer::value::Key;
use crate::transfer::{End, EndError};
use crate::value::Value;
use domain::audit::{Ends, Note};
use domain::caller::Caller;
use domain::clock::Timestamp;

/// A PostgreSQL database that is the source or destination of a move.
pub struct PostgresEnd {
    name: String,
    client: Client,
    address: Address,
}

impl PostgresEnd {
    /// The database at `address` as the source of a move.
    pub async fn source(address: &Address) -> Result<Self, EndError> {
        let end = Self::open(address).await?;
        let found = migrate::check(&end.client, address).await?;
        let served = match found {
            Some(_) => end.is_served_before().await?,
            None => false,
        };
        let Some(found) = found.filter(|_| served) else {
            return Err(EndError::Nothing(end.name));
        };
        end.refuse_older(found)?;
        migrate::refuse_unfinished(&end.client, address).await?;
        Ok(end)
    }

    /// The database at `address` as the destination of a move: an empty one, or one that a move
    /// began.
    pub async fn destination(address: &Address) -> Result<Self, EndError> {
        let mut end = Self::open(address).await?;
        let found = match migrate::check(&end.client, address).await {
            Err(OpenError::Foreign(name)) => return Err(EndError::NotEmpty(name)),
            found => found?,
        };
        let Some(found) = found else {
            return Ok(end);
        };
        let mark = end.mark().await;
        let mark = mark.map_err(|error| end.unusable(error))?;
        if mark.is_some_and(|mark| mark.leads_here()) {
            end.refuse_older(found)?;
        } else if end.is_served_before().await? {
            return Err(EndError::NotEmpty(end.name));
        }
        Ok(end)
    }

    async fn open(address: &Address) -> Result<Self, EndError> {
        let name = address.to_string();
        let (client, messages) = connect(address)
            .await
            .map_err(|error| OpenError::Unreachable(name.clone(), reason(&error)))?;
        drain(messages);
        let end = Self {
            name,
            client,
            address: address.clone(),
        };
        let ready = end.set_up().await;
        ready.map_err(|error| end.unusable(error))?;
        end.lock_out().await?;
        Ok(end)
    }

    async fn set_up(&self) -> Result<(), StorageError> {
        set_up(&self.client).await?;
        let patient = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
             SET bytea_output = 'hex'; SET lock_timeout = '5s'";
        Ok(self.client.batch_execute(patient).await?)
    }

    /// Keeps nodes and other moves away. The server releases the lock of a killed one within the
    /// lock timeout.
    async fn lock_out(&self) -> Result<(), EndError> {
        let lock = "SELECT pg_advisory_lock($1, $2)";
        let locked = self.client.execute(lock, &[&LOCKS, &SERVED_LOCK]).await;
        match locked {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Err(EndError::InUse(self.name.clone()))
            }
            Err(error) => Err(self.unusable(error.into())),
        }
    }

    fn unusable(&self, error: StorageError) -> EndError {
        EndError::Unusable(self.name.clone(), error)
    }

    fn refuse_older(&self, found: i32) -> Result<(), EndError> {
        let known = migrate::newest_known();
        if found == known {
            return Ok(());
        }
        Err(EndError::Older {
            name: self.name.clone(),
            found: found.unsigned_abs(),
            known: known.unsigned_abs(),
        })
    }

    /// Whether a node was ever started on the database, or a move led to it: both leave secrets.
    async fn is_served_before(&self) -> Result<bool, EndError> {
        let sql = "SELECT EXISTS (SELECT FROM secrets)";
        let row = self.client.query_one(sql, &[]).await;
        let row = row.map_err(|error| self.unusable(error.into()))?;
        Ok(row.get(0))
    }

    async fn number<T>(&self, sql: &str) -> Result<T, StorageError>
    where
        T: for<'a> tokio_postgres::types::FromSql<'a>,
    {
        Ok(self.client.query_one(sql, &[]).await?.try_get(0)?)
    }
}

impl From<OpenError> for EndError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

async fn put_mark(
    client: &impl tokio_postgres::GenericClient,
    mark: &Mark,
) -> Result<(), StorageError> {
    client
        .execute(
            "INSERT INTO settings (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&mark::NAME, &mark.to_json()],
        )
        .await?;
    Ok(())
}

#[async_trait]
impl End for PostgresEnd {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn count(&mut self, table: &Table) -> Result<u64, StorageError> {
        let (from, condition) = (from(table), condition(table, None)?);
        let count: i64 = self
            .number(&format!("SELECT count(*) FROM {from}{condition}"))
            .await?;
        Ok(count.unsigned_abs())
    }

    async fn lines(&mut self, table: &Table, after: Option<&Key>) -> Result<Vec<u8>, StorageError> {
        let key = table.key_columns().iter().map(ordered);
        let sql = format!(
            "COPY (SELECT {} FROM {}{} ORDER BY {} LIMIT {}) TO STDOUT",
            quoted(table.columns),
            from(table),
            condition(table, after)?,
            key.collect::<Vec<_>>().join(", "),
            table.batch,
        );
        let rows = self.client.copy_out(&sql).await?;
        let lines = rows.try_fold(Vec::new(), |mut lines, row| async move {
            lines.extend_from_slice(&row);
            Ok(lines)
        });
        Ok(lines.await?)
    }

    async fn numbered_to(&mut self, table: &Table) -> Result<Option<i64>, StorageError> {
        let sql = format!(
            "SELECT CASE WHEN is_called THEN last_value END FROM {}_id_seq",
            table.name
        );
        self.number(&sql).await
    }

    async fn last_interaction(&mut self) -> Result<i64, StorageError> {
        self.number(
            "SELECT greatest((SELECT max(id) FROM interactions), (SELECT max(last_interaction) FROM visits), 0)",
        )
        .await
    }

    async fn has_wrapped_key(&mut self) -> Result<bool, StorageError> {
        let sql = format!("SELECT EXISTS ({ANY_WRAPPED_KEY})");
        self.number(&sql).await
    }

    async fn mark(&mut self) -> Result<Option<Mark>, StorageError> {
        if migrate::check(&self.client, &self.address)
            .await
            .map_err(|error| StorageError::Failed(error.to_string()))?
            .is_none()
        {
            return Ok(None);
        }
        let json = migrate::mark_of(&self.client).await?;
        json.map(|json| Mark::from_json(&json).ok_or_else(|| unreadable("mark of a move")))
            .transpose()
    }

    async fn begin(&mut self, mark: &Mark) -> Result<(), EndError> {
        migrate::run(&mut self.client, &self.address).await?;
        let last = mark.last_interaction;
        let begun = async {
            let transaction = self.client.transaction().await?;
            put_mark(&transaction, mark).await?;
            if last > 0 {
                transaction
                    .execute("SELECT receive_history($1)", &[&last])
                    .await?;
            }
            Ok(transaction.commit().await?)
        };
        let begun: Result<(), StorageError> = begun.await;
        begun.map_err(|error| self.unusable(error))
    }

    async fn write(
        &mut self,
        table: &Table,
        lines: Vec<u8>,
        mark: &Mark,
    ) -> Result<(), StorageError> {
        let transaction = self.client.transaction().await?;
        let sql = format!("COPY {} ({}) FROM STDIN", table.name, quoted(table.columns));
        let mut rows = pin!(transaction.copy_in(&sql).await?);
        rows.send(Cursor::new(lines)).await?;
        rows.finish().await?;
        put_mark(&transaction, mark).await?;
        Ok(transaction.commit().await?)
    }

    async fn conclude(
        &mut self,
        numbered: &[(&'static Table, i64)],
        mark: &Mark,
    ) -> Result<(), StorageError> {
        let transaction = self.client.transaction().await?;
        for (table, number) in numbered {
            let sql = format!("SELECT setval('{}_id_seq', $1)", table.name);
            transaction.execute(&sql, &[number]).await?;
        }
        transaction.execute("SELECT date_history()", &[]).await?;
        put_mark(&transaction, mark).await?;
        transaction.commit().await?;
        // The server plans queries badly until it has analyzed the new tables.
        Ok(self.client.batch_execute("ANALYZE").await?)
    }

    async fn complete(
        &mut self,
        mark: &Mark,
        now: Timestamp,
        caller: &Caller,
        note: Note,
    ) -> Result<(), StorageError> {
        let transaction = self.client.transaction().await?;
        let ends = match transaction.query_opt(audit::ENDS, &[]).await? {
            Some(found) => audit::read_ends(row(&found)?)?,
            None => Ends::NONE,
        };
        let row = audit::next(ends.head, now, caller, Some(note));
        let head = (row.id, row.hash);
        let (columns, ends) = (audit::columns(&row), Ends { head, ..ends });
        let insert = Dialect::Postgres.say(audit::INSERT);
        transaction.execute(&*insert, &parameters(&columns)).await?;
        let set_ends = Dialect::Postgres.say(audit::SET_ENDS);
        let columns = audit::end_columns(&ends);
        transaction
            .execute(&*set_ends, &parameters(&columns))
            .await?;
        put_mark(&transaction, mark).await?;
        Ok(transaction.commit().await?)
    }

    async fn leave(&mut self, mark: &Mark) -> Result<(), StorageError> {
        put_mark(&self.client, mark).await
    }
}

fn quoted(columns: &[Column]) -> String {
    let names = columns.iter().map(|column| format!("\"{}\"", column.name));
    names.collect::<Vec<_>>().join(", ")
}

fn from(table: &Table) -> &'static str {
    table.merged.unwrap_or(table.name)
}

/// A column of a key, in the same order as in SQLite.
fn ordered(column: &Column) -> String {
    match column.kind {
        Kind::Text => format!("\"{}\" COLLATE \"C\"", column.name),
        _ => format!("\"{}\"", column.name),
    }
}

fn condition(table: &Table, after: Option<&Key>) -> Result<String, StorageError> {
    let mut conditions = Vec::new();
    if !table.filter.is_empty() {
        conditions.push(table.filter.to_owned());
    }
    if let Some(Key(after)) = after {
        let key = table.key_columns().iter().map(ordered);
        let key = key.collect::<Vec<_>>().join(", ");
        let values = table.key_columns().iter().zip(after.split('\t'));
        let values = values.map(|(column, text)| {
            Value::read(column.kind, text)
                .map(|value| literal(&value))
                .ok_or_else(|| unreadable("key"))
        });
        let values = values.collect::<Result<Vec<_>, _>>()?.join(", ");
        conditions.push(format!("ROW ({key}) > ROW ({values})"));
    }
    if conditions.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(" WHERE {}", conditions.join(" AND ")))
}

/// A value as an SQL literal, because `COPY` takes no parameters.
fn literal(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => format!("{number}::BIGINT"),
        Value::Flag(flag) => flag.to_string(),
        // A backslash needs no escape (standard_conforming_strings).
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => format!("'\\x{}'::BYTEA", base16ct::lower::encode_string(bytes)),
    }
}
