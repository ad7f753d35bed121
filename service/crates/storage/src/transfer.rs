//! Moves a whole database from one backend to the other: the parts that both share. The
//! [catalogue](super::catalogue) lists the tables and columns. A row is the same text on both sides
//! ([`value`]), and this text is copied, counted and compared.
//!
//! The destination stores the progress of a move ([`mark`]), in the transaction of the rows that it
//! counts.

pub mod mark;
pub mod value;

use async_trait::async_trait;

use super::StorageError;
use super::catalogue::Table;
use domain::audit::Note;
use domain::caller::Caller;
use domain::clock::Timestamp;
use mark::Mark;
use value::Key;

/// Why a database cannot be the source or destination of a move. The message of each is a sentence
/// for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// The source contains no Tapdesk database.
    #[error("{0} holds no Tapdesk database: there is nothing to move.")]
    Nothing(String),
    /// An older version of this program made the source.
    #[error(
        "{name} was made by an older Tapdesk (format {found}, this one knows {known}). \
         Upgrade it with this version, and move it then: serve a SQLite file once, or run tapdesk-service \
         upgrade-database for PostgreSQL."
    )]
    Older {
        /// The source's name in messages.
        name: String,
        /// The source's schema version.
        found: u32,
        /// The schema version that this program can move.
        known: u32,
    },
    /// The destination is not empty.
    #[error(
        "{0} is not empty. A move leads to an empty database: choose another one, or remove what is there."
    )]
    NotEmpty(String),
    /// A service or another move uses the database.
    #[error("{0} is in use by a service or another move. End that one first.")]
    InUse(String),
    /// The database cannot be opened. Each kind has its own reasons.
    #[error(transparent)]
    Open(Box<dyn std::error::Error + Send + Sync>),
    /// The database gave an unexpected error.
    #[error("{0} cannot be used: {text}.", text = .1.to_string().trim_end_matches('.'))]
    Unusable(String, StorageError),
}

/// The source or destination of a move. No service can open it as long as this value exists.
///
/// This is a trait and not an enum, because no body serves both databases: an enum would only pass
/// each of these operations on.
#[async_trait]
pub trait End: Send {
    /// The database's name in messages.
    fn name(&self) -> String;

    /// How many rows of `table` a move copies.
    async fn count(&mut self, table: &Table) -> Result<u64, StorageError>;

    /// The next rows of `table` after `after`, ordered by key, one line each ([`value`]); at most
    /// `table.batch` rows. Empty after the last one.
    async fn lines(&mut self, table: &Table, after: Option<&Key>) -> Result<Vec<u8>, StorageError>;

    /// The highest id that a row of `table` ever had; `None` if the table generates no ids, or
    /// never had a row.
    async fn numbered_to(&mut self, table: &Table) -> Result<Option<i64>, StorageError>;

    /// The highest id that an interaction ever had; 0 if there was none.
    async fn last_interaction(&mut self) -> Result<i64, StorageError>;

    /// Whether the key of any inlay is stored.
    async fn has_wrapped_key(&mut self) -> Result<bool, StorageError>;

    /// The progress of a move to this database, or the note that this database was moved on; `None`
    /// if no move began.
    async fn mark(&mut self) -> Result<Option<Mark>, StorageError>;

    /// Creates an empty database that no service can open, for the move of `mark`.
    async fn begin(&mut self, mark: &Mark) -> Result<(), EndError>;

    /// Adds rows of `table` and stores the progress `mark`, in one transaction.
    async fn write(
        &mut self,
        table: &Table,
        lines: Vec<u8>,
        mark: &Mark,
    ) -> Result<(), StorageError>;

    /// Finishes the tables after all rows were copied: sets the next ids to follow `numbered`, and
    /// builds the search indexes.
    async fn conclude(
        &mut self,
        numbered: &[(&'static Table, i64)],
        mark: &Mark,
    ) -> Result<(), StorageError>;

    /// Marks the move to this database as complete by `mark`, and appends a row for `caller` to the
    /// moved audit log, in one transaction.
    async fn complete(
        &mut self,
        mark: &Mark,
        now: Timestamp,
        caller: &Caller,
        note: Note,
    ) -> Result<(), StorageError>;

    /// Marks this database as moved on: all its data is now in another database.
    async fn leave(&mut self, mark: &Mark) -> Result<(), StorageError>;
}
