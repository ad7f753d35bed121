//! The setup of every connection, and the assertions about it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::StorageError;

/// Marks a file as a Tapdesk database ("TAPD").
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"TAPD");

/// Versions before this one can lose committed WAL writes.
pub(super) const SQLITE_AT_LEAST: i32 = 3_051_003;

/// Pages in the WAL before the writer moves them to the database.
const CHECKPOINT_PAGES: i64 = 4_000;

/// How long a connection waits for another one's lock.
const BUSY: Duration = Duration::from_secs(5);
/// How long emptying the log waits for readers: taps wait as long.
const BUSY_EMPTYING: Duration = Duration::from_millis(20);

/// Opens a connection that only reads.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    Ok(connection)
}

/// Opens the connection that writes. The file must exist.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    set_up(&connection)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // The commit that deletes or replaces data also overwrites it. FAST would leave it in pages
    // that become free as a whole.
    connection.pragma_update(None, "secure_delete", "ON")?;
    let secure_delete: i64 =
        connection.pragma_query_value(None, "secure_delete", |row| row.get(0))?;
    if secure_delete != 1 {
        return Err(misuse(format!(
            "does not overwrite: secure_delete={secure_delete}"
        )));
    }
    Ok(connection)
}

/// Moves the content of the log to the database and truncates the log, which still contains the
/// earlier pages. `false` if a reader prevents it. The connection must be in no transaction.
pub(super) fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(BUSY_EMPTYING)?;
    let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        row.get(0).map(|busy: bool| !busy)
    });
    connection.busy_timeout(BUSY)?;
    emptied
}

/// Rewrites the database at `path` page by page, and empties its log, so that neither contains
/// deleted or replaced data. No other connection may write meanwhile.
pub(super) fn compact(path: &Path) -> Result<(), StorageError> {
    let connection = writer(path)?;
    // The copy may be larger than the memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    connection.execute("VACUUM", [])?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Applies the settings of all connections, and reads them back, because durability must not depend
/// on a default.
fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(256);
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    if journal != "wal" || synchronous != 2 {
        return Err(misuse(format!(
            "not durable: journal_mode={journal}, synchronous={synchronous}"
        )));
    }
    Ok(())
}

fn misuse(what: String) -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_MISUSE);
    rusqlite::Error::SqliteFailure(error, Some(what))
}

/// Whether SQLite's `error` means that the disk has no room.
pub(super) fn says_full(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    // Extended codes of a write that found no space; SQLITE_FULL has none.
    let no_room = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_SHMSIZE,
        ffi::SQLITE_IOERR_TRUNCATE,
    ];
    error.sqlite_error().is_some_and(|code| {
        code.code == rusqlite::ErrorCode::DiskFull || no_room.contains(&code.extended_code)
    })
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        if says_full(&error) {
            Self::Full
        } else {
            Self::Failed(error.to_string())
        }
    }
}
