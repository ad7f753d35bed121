//! The audit log of a database file that no service has open.

use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use crate::shared::audit;
use domain::audit::{Ends, GENESIS, Row};

/// The first and the last row of the log, with their hashes.
pub(super) fn ends(connection: &Connection) -> rusqlite::Result<Ends> {
    let hash = |bytes: Vec<u8>| bytes.try_into().unwrap_or(GENESIS);
    let ends = connection.query_row(audit::ENDS, [], |row| {
        Ok(Ends {
            anchor: (row.get(0)?, hash(row.get(1)?)),
            head: (row.get(2)?, hash(row.get(3)?)),
        })
    });
    Ok(ends.optional()?.unwrap_or(Ends::NONE))
}

/// Appends a row to the log, in the caller's transaction.
pub(super) fn add(connection: &Connection, ends: Ends, row: &Row) -> rusqlite::Result<()> {
    connection.execute(audit::INSERT, params_from_iter(audit::columns(row)))?;
    let head = (row.id, row.hash);
    let ends = Ends { head, ..ends };
    connection.execute(audit::SET_ENDS, params_from_iter(audit::end_columns(&ends)))?;
    Ok(())
}
