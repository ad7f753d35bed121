//! SQLite's index of three-character pieces (FTS5, tokenizer `trigram`): it returns the tags whose
//! searchable text contains every piece of a text in any place. The query then compares the text.

use rusqlite::Connection;

use crate::StorageError;
use crate::shared::tags::INDEX_TAGS;

/// The id of the newest tag; 0 if there are no tags. Later tags have higher ids.
pub(super) fn newest(connection: &Connection) -> Result<i64, StorageError> {
    let newest = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM tags")?
        .query_row([], |row| row.get(0))?;
    Ok(newest)
}

/// Adds the tags after `newest` to the index.
pub(super) fn add_after(connection: &Connection, newest: i64) -> Result<(), StorageError> {
    let sql = format!("{INDEX_TAGS} WHERE id > ?1");
    connection.prepare_cached(&sql)?.execute([newest])?;
    Ok(())
}
