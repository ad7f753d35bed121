//! The offset of simulated time, stored over a restart: a row of `settings`, which a move to
//! another database copies.

use rusqlite::{Connection, OptionalExtension as _};

use crate::{SIMULATED_AHEAD, StorageError};
use domain::clock::Millis;

/// The stored offset; no time if simulated time was never moved.
pub(super) fn offset(connection: &Connection) -> rusqlite::Result<Millis> {
    let stored = connection.query_row(
        "SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?1",
        [SIMULATED_AHEAD],
        |row| row.get(0).map(Millis::new),
    );
    Ok(stored.optional()?.unwrap_or_default())
}

/// Adds `span` to the stored offset, and returns the new offset.
pub(super) fn advance(connection: &Connection, span: Millis) -> Result<Millis, StorageError> {
    let offset = offset(connection)? + span;
    connection.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET value = excluded.value",
        (SIMULATED_AHEAD, offset.get().to_string()),
    )?;
    Ok(offset)
}
