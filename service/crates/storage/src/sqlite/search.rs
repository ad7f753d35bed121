//! SQLite's indexes of three-character pieces (FTS5, tokenizer `trigram`): they return the tags whose
//! searchable text, and the inlays whose UID, contains every piece of a text in any place. The query
//! then compares the text.

use rusqlite::Connection;

use crate::StorageError;
use crate::shared::inlays::INDEX_INLAYS;
use crate::shared::tags::INDEX_TAGS;

/// The id of the newest tag; 0 if there are no tags. Later tags have higher ids.
pub(super) fn newest(connection: &Connection) -> Result<i64, StorageError> {
    newest_in(connection, "tags")
}

fn newest_in(connection: &Connection, table: &str) -> Result<i64, StorageError> {
    let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
    let mut newest = connection.prepare_cached(&sql)?;
    Ok(newest.query_row([], |row| row.get(0))?)
}

/// The rows of a table that its index does not have yet.
pub(super) struct Unindexed {
    /// Adds rows to the index; a condition follows.
    add: &'static str,
    /// The newest row that the index has.
    newest: i64,
}

impl Unindexed {
    /// For the rows that are now added to a table; `None` if it has no index of pieces.
    pub(super) fn of(connection: &Connection, table: &str) -> Result<Option<Self>, StorageError> {
        let add = match table {
            "tags" => INDEX_TAGS,
            "inlays" => INDEX_INLAYS,
            _ => return Ok(None),
        };
        let newest = newest_in(connection, table)?;
        Ok(Some(Self { add, newest }))
    }

    /// Adds the rows to the index.
    pub(super) fn add(self, connection: &Connection) -> Result<(), StorageError> {
        let sql = format!("{} WHERE id > ?1", self.add);
        connection.prepare_cached(&sql)?.execute([self.newest])?;
        Ok(())
    }
}
