//! SQLite as the source or destination of a move.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::lock::Lock;
use super::place::make_place;
use super::row::unreadable;
use super::{
    OpenError, any_wrapped_key, audit, connection, fold, last_interaction, migrate, search, sweep,
};
use crate::StorageError;
use crate::catalogue::{Column, Kind, Table};
use crate::shared;
use crate::transfer::mark::{self, Mark};
use crate::transfer::value::{self, Key};
use crate::transfer::{End, EndError};
use crate::value::Value;
use domain::audit::Note;
use domain::caller::Caller;
use domain::clock::Timestamp;

/// A database file that is the source or destination of a move.
pub struct SqliteEnd {
    path: PathBuf,
    /// `None` if the file does not exist yet.
    connection: Option<Connection>,
    _lock: Lock,
}

impl SqliteEnd {
    /// The database at `path` as the source of a move.
    pub fn source(path: &Path) -> Result<Self, EndError> {
        if !path.try_exists().unwrap_or(true) {
            return Err(EndError::Nothing(path.display().to_string()));
        }
        let lock = Lock::take(path)?;
        let path = lock.database();
        let found = migrate::look_into(path)?.format;
        let known = migrate::newest_known();
        if found < known {
            return Err(EndError::Older {
                name: path.display().to_string(),
                found,
                known,
            });
        }
        // A service that was closed has folded everything; one that crashed has not.
        fold::settle_file(path)
            .map_err(|error| EndError::Unusable(path.display().to_string(), error))?;
        let connection = connection::reader(path).map_err(OpenError::from)?;
        Ok(Self {
            path: path.to_owned(),
            connection: Some(connection),
            _lock: lock,
        })
    }

    /// The database at `path` as the destination of a move: none yet, or one that a move began.
    pub fn destination(path: &Path) -> Result<Self, EndError> {
        make_place(path)?;
        let lock = Lock::take(path)?;
        let path = lock.database();
        let connection = match path.try_exists() {
            Ok(false) => None,
            Ok(true) => match migrate::look_into(path) {
                Ok(_) | Err(OpenError::Unfinished(_)) => Some(open(path)?),
                Err(OpenError::Foreign(_) | OpenError::Empty(_)) => {
                    return Err(EndError::NotEmpty(path.display().to_string()));
                }
                Err(error) => return Err(error.into()),
            },
            Err(error) => return Err(OpenError::Io(path.to_owned(), error).into()),
        };
        let end = Self {
            path: path.to_owned(),
            connection,
            _lock: lock,
        };
        let leads_here = |mark: Option<Mark>| mark.is_some_and(|mark| mark.leads_here());
        if end.connection.is_some() && end.read_mark().is_ok_and(|mark| !leads_here(mark)) {
            return Err(EndError::NotEmpty(end.name()));
        }
        Ok(end)
    }

    fn connection(&self) -> Result<&Connection, StorageError> {
        self.connection
            .as_ref()
            .ok_or_else(|| StorageError::Failed("there is no database yet".to_owned()))
    }

    fn read_mark(&self) -> Result<Option<Mark>, StorageError> {
        let Some(connection) = &self.connection else {
            return Ok(None);
        };
        let json = mark_of(connection)?;
        json.map(|json| Mark::from_json(&json).ok_or_else(|| unreadable("mark of a move")))
            .transpose()
    }
}

impl From<OpenError> for EndError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

fn open(path: &Path) -> Result<Connection, OpenError> {
    Ok(connection::writer(path)?)
}

/// The text of the mark, if the database is the destination or the source of a move.
pub(super) fn mark_of(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row(
            "SELECT value FROM settings WHERE name = ?1",
            [mark::NAME],
            |row| row.get(0),
        )
        .optional()
}

fn put_mark(connection: &Connection, mark: &Mark) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((mark::NAME, mark.to_json()))?;
    Ok(())
}

#[async_trait]
impl End for SqliteEnd {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    async fn count(&mut self, table: &Table) -> Result<u64, StorageError> {
        let sql = format!(
            "SELECT count(*) FROM {}{}",
            table.name,
            condition(table, None)
        );
        Ok(self.connection()?.query_row(&sql, [], |row| row.get(0))?)
    }

    async fn lines(&mut self, table: &Table, after: Option<&Key>) -> Result<Vec<u8>, StorageError> {
        let connection = self.connection()?;
        let mut select = connection.prepare_cached(&select(table, after))?;
        let key = match after {
            Some(key) => values(table.key_columns(), &key.0)?,
            None => Vec::new(),
        };
        let mut rows = select.query(params_from_iter(key))?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            for (index, column) in table.columns.iter().enumerate() {
                if index > 0 {
                    lines.push(b'\t');
                }
                of(column, row.get_ref(index)?)?.write(&mut lines);
            }
            lines.push(b'\n');
        }
        Ok(lines)
    }

    async fn numbered_to(&mut self, table: &Table) -> Result<Option<i64>, StorageError> {
        let number = self.connection()?.query_row(
            "SELECT seq FROM sqlite_sequence WHERE name = ?1",
            [table.name],
            |row| row.get(0),
        );
        Ok(number.optional()?)
    }

    async fn last_interaction(&mut self) -> Result<i64, StorageError> {
        Ok(last_interaction(self.connection()?)?)
    }

    async fn has_wrapped_key(&mut self) -> Result<bool, StorageError> {
        Ok(any_wrapped_key(self.connection()?)?.is_some())
    }

    async fn mark(&mut self) -> Result<Option<Mark>, StorageError> {
        self.read_mark()
    }

    async fn begin(&mut self, mark: &Mark) -> Result<(), EndError> {
        migrate::create(&self.path, |connection| put_mark(connection, mark))?;
        self.connection = Some(open(&self.path)?);
        Ok(())
    }

    async fn write(
        &mut self,
        table: &Table,
        lines: Vec<u8>,
        mark: &Mark,
    ) -> Result<(), StorageError> {
        let connection = self.connection()?;
        let transaction = connection.unchecked_transaction()?;
        let unindexed = search::Unindexed::of(&transaction, table.name)?;
        {
            let mut insert = transaction.prepare_cached(&insert(table))?;
            for line in value::lines(&lines) {
                let line = std::str::from_utf8(line).map_err(|_| unreadable("text"))?;
                let values = values(table.columns, line)?;
                let stored = table.columns.iter().zip(values);
                let stored = stored.filter(|(column, _)| column.derived.is_none());
                insert.execute(params_from_iter(stored.map(|(_, value)| value)))?;
            }
        }
        if let Some(unindexed) = unindexed {
            unindexed.add(&transaction)?;
        }
        put_mark(&transaction, mark)?;
        Ok(transaction.commit()?)
    }

    async fn conclude(
        &mut self,
        numbered: &[(&'static Table, i64)],
        mark: &Mark,
    ) -> Result<(), StorageError> {
        let transaction = self.connection()?.unchecked_transaction()?;
        for (table, number) in numbered {
            transaction.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [table.name])?;
            transaction.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)",
                (table.name, number),
            )?;
        }
        transaction.execute(
            "UPDATE folded SET up_to = (SELECT coalesce(max(id), 0) FROM interactions)",
            [],
        )?;
        put_mark(&transaction, mark)?;
        Ok(transaction.commit()?)
    }

    async fn complete(
        &mut self,
        mark: &Mark,
        now: Timestamp,
        caller: &Caller,
        note: Note,
    ) -> Result<(), StorageError> {
        let transaction = self.connection()?.unchecked_transaction()?;
        if last_interaction(&transaction)? < mark.last_interaction {
            sweep::note_highest_removed(&transaction, mark.last_interaction)?;
        }
        let ends = audit::ends(&transaction)?;
        let row = shared::audit::next(ends.head, now, caller, Some(note));
        audit::add(&transaction, ends, &row)?;
        put_mark(&transaction, mark)?;
        Ok(transaction.commit()?)
    }

    async fn leave(&mut self, mark: &Mark) -> Result<(), StorageError> {
        // The connection of a source can only read.
        let connection =
            open(&self.path).map_err(|error| StorageError::Failed(error.to_string()))?;
        Ok(put_mark(&connection, mark)?)
    }
}

fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}

fn condition(table: &Table, after: Option<&Key>) -> String {
    let mut conditions = Vec::new();
    if !table.filter.is_empty() {
        conditions.push(table.filter.to_owned());
    }
    if after.is_some() {
        let key = quoted(table.key_columns().iter().map(|column| column.name));
        let parameters = vec!["?"; table.key].join(", ");
        conditions.push(format!("({key}) > ({parameters})"));
    }
    if conditions.is_empty() {
        return String::new();
    }
    format!(" WHERE {}", conditions.join(" AND "))
}

fn select(table: &Table, after: Option<&Key>) -> String {
    let columns = table.columns.iter().map(|column| match column.derived {
        Some(from) => from.to_owned(),
        None => format!("\"{}\"", column.name),
    });
    format!(
        "SELECT {} FROM {}{} ORDER BY {} LIMIT {}",
        columns.collect::<Vec<_>>().join(", "),
        table.name,
        condition(table, after),
        quoted(table.key_columns().iter().map(|column| column.name)),
        table.batch,
    )
}

fn insert(table: &Table) -> String {
    let stored = || {
        table
            .columns
            .iter()
            .filter(|column| column.derived.is_none())
    };
    format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name,
        quoted(stored().map(|column| column.name)),
        vec!["?"; stored().count()].join(", "),
    )
}

/// The values in a line, or in the first part of one.
fn values<'a>(columns: &[Column], line: &'a str) -> Result<Vec<Value<'a>>, StorageError> {
    let values = columns
        .iter()
        .zip(line.split('\t'))
        .map(|(column, text)| Value::read(column.kind, text));
    let values: Option<Vec<_>> = values.collect();
    values
        .filter(|values| values.len() == columns.len())
        .ok_or_else(|| unreadable("row"))
}

/// Converts a stored value, which must be of the column's kind.
fn of<'a>(column: &Column, stored: ValueRef<'a>) -> Result<Value<'a>, StorageError> {
    let value = match (column.kind, stored) {
        (_, ValueRef::Null) => Some(Value::Null),
        (Kind::Integer, ValueRef::Integer(number)) => Some(Value::Integer(number)),
        (Kind::Flag, ValueRef::Integer(flag @ (0 | 1))) => Some(Value::Flag(flag == 1)),
        (Kind::Text, ValueRef::Text(text)) => std::str::from_utf8(text)
            .ok()
            .filter(|text| !text.contains('\0'))
            .map(|text| Value::Text(text.into())),
        (Kind::Bytes, ValueRef::Blob(bytes)) => Some(Value::Bytes(bytes.into())),
        _ => None,
    };
    value.ok_or_else(|| unreadable(column.name))
}
