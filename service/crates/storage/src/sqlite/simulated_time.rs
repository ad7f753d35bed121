//! The offset of simulated time, stored over a restart: a row of `settings`, which a move to
//! another database copies.

use rusqlite::{Connection, OptionalExtension as _};

use crate::{SIMULATED_AHEAD, StorageError};

/// The stored offset in milliseconds; 0 if simulated time was never moved.
pub(super) fn offset(connection: &Connection) -> rusqlite::Result<i64> {
    let stored = connection.query_row(
        "SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?1",
        [SIMULATED_AHEAD],
        |row| row.get(0),
    );
    Ok(stored.optional()?.unwrap_or(0))
}

/// Adds `millis` to the stored offset, and returns the new offset.
pub(super) fn advance(connection: &Connection, millis: i64) -> Result<i64, StorageError> {
    let offset = offset(connection)?.saturating_add(millis);
    connection.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (SIMULATED_AHEAD, offset.to_string()),
    )?;
    Ok(offset)
}
