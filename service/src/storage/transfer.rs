//! A whole database on its way from one backend to the other: what both have in
//! common. Which tables and columns there are is said once ([`schema`]), and a
//! row is the same text on both sides ([`value`]), which is what is copied,
//! counted and compared.
//!
//! How far a move has come is kept in the database it leads to ([`mark`]),
//! written in the transaction of the rows that it counts.

pub mod mark;
pub mod schema;
pub mod table;
pub mod value;

use async_trait::async_trait;

use super::StorageError;
use crate::audit::Note;
use crate::caller::Caller;
use crate::clock::Timestamp;
use mark::Mark;
use table::Table;
use value::Key;

/// Why a database cannot be an end of a move. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// The source has nothing to move.
    #[error("{0} holds no Tapdesk database: there is nothing to move.")]
    Nothing(String),
    /// An older version of this program made it.
    #[error(
        "{name} was made by an older Tapdesk (format {found}, this one knows {known}). \
         Serve it once with this version, which upgrades it, and move it then."
    )]
    Older {
        /// The database.
        name: String,
        /// Its format.
        found: u32,
        /// The format that is moved.
        known: u32,
    },
    /// There is something where the move is to lead.
    #[error(
        "{0} is not empty. A move leads to an empty database: choose another one, or remove what is there."
    )]
    NotEmpty(String),
    /// A service runs on it, or another move.
    #[error("{0} is in use by a service or another move. End that one first.")]
    InUse(String),
    /// The SQLite file cannot be opened.
    #[error(transparent)]
    Sqlite(#[from] super::sqlite::OpenError),
    /// The PostgreSQL database cannot be opened.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] super::postgres::OpenError),
    /// It does not answer as it should.
    #[error("{0} cannot be used: {text}.", text = .1.to_string().trim_end_matches('.'))]
    Unusable(String, StorageError),
}

/// An end of a move. No service can open it as long as this value lives.
#[async_trait]
pub trait End: Send {
    /// What it is called in messages.
    fn name(&self) -> String;

    /// How many rows of `table` are moved.
    async fn count(&mut self, table: &Table) -> Result<u64, StorageError>;

    /// The next rows of `table` after `after`, in the order of their keys, a
    /// line each ([`value`]); at most `table.batch` of them. Empty after the last one.
    async fn lines(&mut self, table: &Table, after: Option<&Key>) -> Result<Vec<u8>, StorageError>;

    /// The highest id that a row of `table` ever had, if it has ids of its own and had any.
    async fn numbered_to(&mut self, table: &Table) -> Result<Option<i64>, StorageError>;

    /// The highest id that an interaction ever had; 0 for none.
    async fn last_interaction(&mut self) -> Result<i64, StorageError>;

    /// Whether an inlay's key is stored.
    async fn has_wrapped_key(&mut self) -> Result<bool, StorageError>;

    /// How far a move to here has come, or that everything here was moved on;
    /// `None` if nothing was begun.
    async fn mark(&mut self) -> Result<Option<Mark>, StorageError>;

    /// Makes an empty database that nobody can serve, for the move of `mark`.
    async fn begin(&mut self, mark: &Mark) -> Result<(), EndError>;

    /// Adds rows of `table`, and says by `mark` how far the move has come: all of it, or nothing.
    async fn write(
        &mut self,
        table: &Table,
        lines: Vec<u8>,
        mark: &Mark,
    ) -> Result<(), StorageError>;

    /// What follows from all rows being there: new ones are numbered after
    /// `numbered`, and what is found by an index is found.
    async fn conclude(
        &mut self,
        numbered: &[(&'static Table, i64)],
        mark: &Mark,
    ) -> Result<(), StorageError>;

    /// Says that the move to here is complete, by `mark` and by a row of `caller`'s in the audit
    /// log, behind those that were moved: both, or nothing.
    async fn complete(
        &mut self,
        mark: &Mark,
        now: Timestamp,
        caller: &Caller,
        note: Note,
    ) -> Result<(), StorageError>;

    /// Says that everything here was moved on.
    async fn leave(&mut self, mark: &Mark) -> Result<(), StorageError>;
}
