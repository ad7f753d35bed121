//! What a database file is, without writing to it: ours or not, sound or not, of which version.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use url::Url;

use super::{OpenError, newest_known};
use crate::audit::{Check, Ends, Fault};
use crate::clock::Timestamp;
use crate::storage::plane::audit;
use crate::storage::sqlite::connection::APPLICATION_ID;
use crate::storage::sqlite::plane::row;
use crate::storage::sqlite::{any_wrapped_key, transfer};
use crate::storage::transfer::mark;
use crate::storage::transfer::schema::{LEFT_OUT_SQLITE, missing};
use crate::storage::{Examination, StorageError};

/// Refuses to serve what was moved to another database.
fn refuse_moved(path: &Path) -> Result<(), OpenError> {
    let connection = open_read_only(path)?;
    let mark = transfer::mark_of(&connection)?;
    match mark.and_then(|mark| mark::left_for(&mark)) {
        None => Ok(()),
        Some((to, at)) => Err(OpenError::Moved {
            path: path.to_owned(),
            to,
            at,
        }),
    }
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Whether the file at `path` is a sound database that this program can serve.
/// Nothing is written to it, and its owner may be at work.
pub fn examine(path: &Path) -> Result<Examination, OpenError> {
    let examination = look_into(path)?;
    refuse_moved(path)?;
    Ok(examination)
}

/// The same of one that need not be served: it may have been moved elsewhere.
pub(in crate::storage::sqlite) fn look_into(path: &Path) -> Result<Examination, OpenError> {
    check_header(path)?;
    let damaged = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::Damaged(path.to_owned(), error.to_string())
        }
        _ => OpenError::Sqlite(error),
    };
    // A query that cannot be asked of a database of ours: its schema is not what it was.
    let unlike_ours = |error| match damaged(error) {
        OpenError::Sqlite(error) => OpenError::Damaged(path.to_owned(), error.to_string()),
        other => other,
    };
    let connection = open_read_only(path).map_err(damaged)?;
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size <= CHECKED_AT_START {
        let verdict: String = connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(damaged)?;
        if verdict != "ok" {
            return Err(OpenError::damaged(path, &verdict));
        }
    }
    let format = connection
        .query_row(
            "SELECT max(version) FROM refinery_schema_history",
            [],
            |row| row.get(0),
        )
        .map_err(unlike_ours)?;
    let known = newest_known();
    if format > known {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found: format,
            known,
        });
    }
    let moved = transfer::mark_of(&connection).map_err(unlike_ours)?;
    if moved.is_some_and(|mark| mark::is_unfinished(&mark)) {
        return Err(OpenError::Unfinished(path.to_owned()));
    }
    Ok(Examination {
        format,
        wrapped_key: any_wrapped_key(&connection).map_err(unlike_ours)?,
        newest_at: newest_interaction(&connection).map_err(unlike_ours)?,
        missing_tables: if format == known {
            missing_tables(&connection).map_err(unlike_ours)?
        } else {
            Vec::new()
        },
    })
}

/// What is wrong with the audit log of the database at `path`, if anything is. Nothing is written
/// to it, and its owner may be at work.
pub fn check_audit(path: &Path) -> Result<Option<Fault>, OpenError> {
    let failed = |error: StorageError| OpenError::Damaged(path.to_owned(), error.to_string());
    let connection = open_read_only(path)?;
    let log = connection.unchecked_transaction()?;
    check_rows(&log).map_err(failed)
}

fn check_rows(log: &Connection) -> Result<Option<Fault>, StorageError> {
    let there = "SELECT 1 FROM sqlite_schema WHERE name = 'audit_ends'";
    if !log.prepare(there)?.exists([])? {
        // The database is of before the log.
        return Ok(None);
    }
    let mut ends = log.prepare(audit::ENDS)?;
    let mut ends = ends.query([])?;
    let ends = match ends.next()? {
        Some(found) => audit::read_ends(row(found)?)?,
        None => Ends::NONE,
    };
    let mut check = Check::begin(ends);
    let mut rows = log.prepare(audit::ROWS)?;
    let mut rows = rows.query([check.checked(), i64::MAX])?;
    while let Some(found) = rows.next()? {
        if let Err(fault) = check.row(&audit::read(row(found)?)?) {
            return Ok(Some(fault));
        }
    }
    Ok(check.end().err())
}

fn missing_tables(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let found = tables.query_map([], |row| row.get(0))?;
    let found: Vec<String> = found.collect::<Result<_, _>>()?;
    Ok(missing(LEFT_OUT_SQLITE, &found))
}

fn newest_interaction(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    connection
        .query_row(
            "SELECT at FROM interactions WHERE NOT simulated ORDER BY id DESC LIMIT 1",
            [],
            |row| row.get(0).map(Timestamp::from_millis),
        )
        .optional()
}

/// Largest database that is checked page by page at every start.
const CHECKED_AT_START: u64 = 256 * 1024 * 1024;

/// Whether the file is a database of ours: its application id (SQLite file format, section 1.3).
fn check_header(path: &Path) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    if path.metadata().map_err(io)?.len() == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    // Asked of SQLite: a file that is opened and closed here loses the locks that
    // this process may have on it through SQLite.
    let ours = match application_id(path) {
        Ok(id) => id == APPLICATION_ID,
        // Nobody can be at work on such a file, so it may be looked into.
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                starts_as_ours(path).map_err(io)?
            }
            _ => return Err(error.into()),
        },
    };
    if ours {
        Ok(())
    } else {
        Err(OpenError::Foreign(path.to_owned()))
    }
}

/// The id in the file as it stands, whatever is in a log beside it: nothing is
/// locked, and no file is made beside it, for it may be another program's.
fn application_id(path: &Path) -> rusqlite::Result<i32> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = Url::from_file_path(&path).map_err(|()| rusqlite::Error::InvalidPath(path))?;
    uri.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri.as_str(), flags)?;
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Whether a file that SQLite cannot read begins as a database of ours does: then it is damaged.
fn starts_as_ours(path: &Path) -> io::Result<bool> {
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    Ok(header.len() == 100
        && header.starts_with(b"SQLite format 3\0")
        && header[68..72] == APPLICATION_ID.to_be_bytes())
}
