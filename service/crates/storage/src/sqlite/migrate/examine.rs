//! Examines a database file without writing to it: whether it is Tapdesk's and sound, and its
//! version.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use url::Url;

use super::copy::backup_of;
use super::{OpenError, beside, newest_known};
use crate::backups::{CONTENT, SCHEDULE};
use crate::catalogue::{Backend, missing};
use crate::shared::administration::SETTINGS;
use crate::shared::notifications::attention;
use crate::shared::{audit, certificates};
use crate::sqlite::connection::APPLICATION_ID;
use crate::sqlite::shared::row;
use crate::sqlite::{any_wrapped_key, rows, seal, transfer};
use crate::transfer::mark;
use crate::value::Row;
use crate::{BackupSchedule, CertificateState, Examination, NotificationTrouble, StorageError};
use domain::audit::{Check, Ends, Fault, Hash};
use domain::clock::Timestamp;
use domain::private_file;
use domain::settings::Overrides;

/// Refuses to serve a database that was moved to another one.
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

/// Checks that the file at `path` is a sound database that this program can serve. It writes
/// nothing, and the file's owner may use it meanwhile.
pub fn examine(path: &Path) -> Result<Examination, OpenError> {
    let examination = look_into(path)?;
    refuse_moved(path)?;
    Ok(examination)
}

/// Like [`examine`], for a database that need not be served: it may have been moved to another one.
pub(in crate::sqlite) fn look_into(path: &Path) -> Result<Examination, OpenError> {
    check_header(path)?;
    let damaged = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::Damaged(path.to_owned(), error.to_string())
        }
        _ => error.into(),
    };
    // A query that Tapdesk's databases can always answer fails: the schema has been changed.
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
    let format = format(&connection).map_err(unlike_ours)?;
    let known = newest_known();
    if format > known {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found: format,
            known,
            backup: backup_of(path, known),
        });
    }
    let moved = transfer::mark_of(&connection).map_err(unlike_ours)?;
    if moved.is_some_and(|mark| mark::is_unfinished(&mark)) {
        return Err(OpenError::Unfinished(path.to_owned()));
    }
    Ok(Examination {
        format,
        is_older: format < known,
        wrapped_key: any_wrapped_key(&connection).map_err(unlike_ours)?,
        newest_at: newest_interaction(&connection).map_err(unlike_ours)?,
        missing_tables: if format == known {
            missing_tables(&connection).map_err(unlike_ours)?
        } else {
            Vec::new()
        },
    })
}

/// The first fault in the audit log of the database at `path`, if any. It writes nothing, and the
/// file's owner may use it meanwhile.
pub fn check_audit(path: &Path) -> Result<Option<Fault>, OpenError> {
    let failed = |error: StorageError| OpenError::Damaged(path.to_owned(), error.to_string());
    let connection = open_read_only(path)?;
    let log = connection.unchecked_transaction()?;
    check_log(&log).map_err(failed)
}

/// The notifications of the database at `path` that somebody has to look at. It writes nothing, and
/// the file's owner may use it meanwhile.
pub fn notification_trouble(path: &Path, now: Timestamp) -> Result<NotificationTrouble, OpenError> {
    let failed = |error: StorageError| OpenError::Damaged(path.to_owned(), error.to_string());
    let connection = open_read_only(path)?;
    let since = attention::late_before(now);
    let notifications = rows_since(&connection, attention::NOTIFICATIONS, since).map_err(failed)?;
    let since = attention::refused_since(now);
    let refused = rows_since(&connection, attention::REFUSED, since).map_err(failed)?;
    attention::trouble(notifications, refused).map_err(failed)
}

/// The states of the certificates in the database at `path`. It writes nothing, and the file's owner
/// may use it meanwhile.
pub fn certificate_states(path: &Path) -> Result<Vec<CertificateState>, OpenError> {
    let failed = |error: StorageError| OpenError::Damaged(path.to_owned(), error.to_string());
    let connection = open_read_only(path)?;
    let mut statement = connection.prepare(certificates::STATES)?;
    let mut found = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(next) = found.next()? {
        rows.push(row(next).map_err(failed)?);
    }
    certificates::states(rows).map_err(failed)
}

/// The rows of a statement with one time as its parameter.
fn rows_since(
    connection: &Connection,
    sql: &str,
    since: Timestamp,
) -> Result<Vec<Row>, StorageError> {
    let mut statement = connection.prepare(sql)?;
    let mut found = statement.query([since.millis()])?;
    let mut rows = Vec::new();
    while let Some(next) = found.next()? {
        rows.push(row(next)?);
    }
    Ok(rows)
}

/// Checks every row of the database at `path`, and the checksum of a backup. It writes nothing, and
/// the file's owner may use it meanwhile. A database older than this program is read by its upgrade
/// instead.
///
/// # Errors
///
/// [`OpenError::Unreadable`] names the first row that the service could not read.
pub fn check_rows(path: &Path) -> Result<(), OpenError> {
    // A crash can leave half a page at the end of a database, while its log has the complete one.
    if !private_file::is_there(&beside(path, "-wal")) {
        seal::check_end(path)?;
    }
    let connection = open_read_only(path)?;
    if format(&connection)? == newest_known() {
        rows::check(&connection, path)
    } else {
        Ok(())
    }
}

/// The schedule of backups in the database at `path`; `None` if there is none.
pub fn backup_schedule(path: &Path) -> Result<Option<BackupSchedule>, OpenError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    let stored = open_read_only(path)?.query_row(sql, [SCHEDULE], |row| row.get(0));
    let stored: Option<String> = stored.optional()?;
    Ok(stored.and_then(|json| serde_json::from_str(&json).ok()))
}

/// The settings that the database at `path` stores, without arguments and variables.
pub fn stored_settings(path: &Path) -> Result<Overrides, OpenError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    let stored = open_read_only(path)?.query_row(sql, [SETTINGS], |row| row.get(0));
    let stored: Option<String> = stored.optional()?;
    let settings = stored.and_then(|json| serde_json::from_str(&json).ok());
    Ok(settings.unwrap_or_default())
}

/// How much a database contains, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// How many tags it has.
    pub tags: u64,
    /// How many interactions it has.
    pub interactions: u64,
    /// The newest row of its audit log, and the hash of that row.
    pub audit_head: (i64, Hash),
}

/// How much the database at `path` contains. It writes nothing, and the file's owner may use it
/// meanwhile.
pub fn content(path: &Path) -> Result<Content, OpenError> {
    let connection = open_read_only(path)?;
    let content = connection.unchecked_transaction()?;
    let (tags, interactions) =
        content.query_row(CONTENT, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let audit_head = crate::sqlite::audit::ends(&content)?.head;
    Ok(Content {
        tags,
        interactions,
        audit_head,
    })
}

/// Whether the audit log of the database at `path` has this row with this hash, or has removed it
/// because of its age.
pub fn has_audit_row(path: &Path, (id, hash): (i64, Hash)) -> Result<bool, OpenError> {
    let connection = open_read_only(path)?;
    let log = connection.unchecked_transaction()?;
    let anchor = crate::sqlite::audit::ends(&log)?.anchor;
    if id < anchor.0 {
        return Ok(true);
    }
    if id == anchor.0 {
        return Ok(hash == anchor.1);
    }
    let sql = "SELECT hash FROM audit WHERE id = ?1";
    let found: Option<Vec<u8>> = log.query_row(sql, [id], |row| row.get(0)).optional()?;
    Ok(found.is_some_and(|found| found == hash))
}

fn check_log(log: &Connection) -> Result<Option<Fault>, StorageError> {
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

/// The schema version, by the newest migration that was run.
fn format(connection: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT max(version) FROM refinery_schema_history";
    connection.query_row(sql, [], |row| row.get(0))
}

fn missing_tables(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let found = tables.query_map([], |row| row.get(0))?;
    let found: Vec<String> = found.collect::<Result<_, _>>()?;
    Ok(missing(Backend::Sqlite, &found))
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

/// Largest database that is checked page by page at every start, in bytes: larger ones would delay
/// the start.
const CHECKED_AT_START: u64 = 256 * 1024 * 1024;

/// Checks that the file is a Tapdesk database by its application id (SQLite file format, section
/// 1.3).
fn check_header(path: &Path) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    let found = path.metadata().map_err(io)?;
    if found.is_dir() {
        return Err(OpenError::Folder(path.to_owned()));
    }
    if found.len() == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    // Read it with SQLite: opening and closing the file here would lose the locks that this process
    // may hold on it through SQLite.
    let ours = match application_id(path) {
        Ok(id) => id == APPLICATION_ID,
        // No process can use such a file as a database, so it may be opened here.
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                starts_as_ours(path).map_err(io)?
            }
            Some(ErrorCode::CannotOpen) => {
                // The file system says why. This process has no lock on a file that it cannot open.
                File::open(path).map_err(io)?;
                return Err(error.into());
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

/// The application id in the file itself, without its log. It takes no lock and creates no file
/// next to it, because the file may belong to another program.
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

/// Whether a file that SQLite cannot read starts like a Tapdesk database: then it is damaged.
pub(in crate::sqlite) fn starts_as_ours(path: &Path) -> io::Result<bool> {
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    Ok(header.len() == 100
        && header.starts_with(b"SQLite format 3\0")
        && header[68..72] == APPLICATION_ID.to_be_bytes())
}
