//! The reasons why a database file cannot be opened.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::sqlite::connection::says_full;
use crate::sqlite::place::{Unfit, says_unfit};
use domain::clock::Timestamp;

/// Why a database cannot be opened. The message of each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process owns the file.
    #[error("{} is in use by another Tapdesk. Close that one, or choose another database.", .0.display())]
    Taken(PathBuf),
    /// The file has no content at all.
    #[error(
        "{} is empty. A Tapdesk database is never empty, so something went wrong with this file. \
         Restore a backup, or move the file away to start with a new database.", .0.display()
    )]
    Empty(PathBuf),
    /// There is a folder instead of a file.
    #[error("{folder} is a folder. Name the file in it, such as {folder}/tapdesk.db.", folder = .0.display())]
    Folder(PathBuf),
    /// The file belongs to another program.
    #[error("{} is not a Tapdesk database. It was left as it is; choose another path.", .0.display())]
    Foreign(PathBuf),
    /// The file's content is damaged.
    #[error("{file} is damaged ({what}). It was left as it is; restore a backup.", file = .0.display(), what = .1)]
    Damaged(PathBuf, String),
    /// The database has a row that the service cannot read.
    #[error(
        "{file} has a row that cannot be read: row {row} of the table {table}, in its column {column}. \
         It was left as it is; restore a backup.", file = .path.display()
    )]
    Unreadable {
        /// The path of the database file.
        path: PathBuf,
        /// The table of the unreadable row.
        table: &'static str,
        /// The unreadable row's key.
        row: String,
        /// The column whose value cannot be read.
        column: &'static str,
    },
    /// A newer version of this program created the database.
    #[error(
        "{} was made by a newer Tapdesk (format {found}, this one knows {known}). \
         It was left as it is; use the newer version{}.", .path.display(), way_back(.path, .backup.as_deref())
    )]
    Newer {
        /// The path of the database file.
        path: PathBuf,
        /// The file's schema version.
        found: u32,
        /// The newest schema version that this program knows.
        known: u32,
        /// The backup beside the file from before its upgrade, if this program can open it.
        backup: Option<PathBuf>,
    },
    /// The database is older than this program, and could not be backed up before its upgrade.
    #[error(
        "{} was not upgraded and is as it was, because the backup before it failed: {}. Start again when that is \
         solved; until then the former version can use it.", .0.display(), .1
    )]
    NotBackedUp(PathBuf, String),
    /// The file has several names (hard links).
    #[error(
        "{} has more than one name (hard links), and SQLite's log is beside only one of them. \
         Remove the other names, or make them copies.", .0.display()
    )]
    SeveralNames(PathBuf),
    /// A database in this place would lose data.
    #[error(
        "{} cannot be the database: {}. Choose a folder on a disk of this machine, or use PostgreSQL \
         (postgres://USER@HOST/DATABASE).", .0.display(), match .1 {
            Unfit::NetworkDrive => "it is on a network drive, and SQLite loses data there",
            Unfit::Synced => "a cloud program synchronises its folder, and would copy half of a change",
        }
    )]
    Unfit(PathBuf, Unfit),
    /// A test showed that memory cannot be shared on this drive, or that locks do not hold.
    #[error(
        "The drive cannot hold the database: as on a network drive, memory or locks cannot be shared there. \
         Choose a folder on a disk of this machine, or use PostgreSQL (postgres://USER@HOST/DATABASE)."
    )]
    NotShared,
    /// The backup contains a schema that is not Tapdesk's.
    #[error("{file} is no backup of Tapdesk: {what}, unlike any database of ours. Nothing was changed; restore another one.",
        file = .0.display(), what = .1)]
    OtherSchema(PathBuf, String),
    /// All data was moved to another database.
    #[error(
        "{file} was moved to {to} at {at}: serve that one, for each would accept a tap that the other has accepted. \
         To go back to what is in this file all the same, restore it into a new database: \
         tapdesk-service restore {file}.", file = .path.display()
    )]
    Moved {
        /// The file from which the data was moved.
        path: PathBuf,
        /// The database that now has all data.
        to: String,
        /// When the move was completed.
        at: Timestamp,
    },
    /// A move into this database was not finished.
    #[error(
        "A move into {} was not finished. Start migrate-store again with the same --from and --to, \
         and it goes on where it was.", .0.display()
    )]
    Unfinished(PathBuf),
    /// The SQLite this program was built with is too old to be safe.
    #[error("SQLite {0} can lose committed writes; 3.51.3 or newer is needed.")]
    OldSqlite(&'static str),
    /// The file system returned an error.
    #[error("{file} cannot be opened: {error}.{rights}", file = .0.display(), error = .1, rights = work_as_owner(.1))]
    Io(PathBuf, io::Error),
    /// The disk has no room for what a start writes. The database is as it was before.
    #[error("The database cannot be opened: the disk is full. Make room, and start again.")]
    Full,
    /// A migration failed; the database is as it was before.
    #[error("The database could not be upgraded and is as it was: {0}")]
    Migration(String),
    /// SQLite returned an error.
    #[error("{}", sqlite_words(.0))]
    Sqlite(#[source] rusqlite::Error),
}

/// The end of the sentence about a newer database: the command that restores its backup.
fn way_back(path: &Path, backup: Option<&Path>) -> String {
    backup.map_or_else(String::new, |backup| {
        format!(
            ", or go back to the backup from before its upgrade: tapdesk-service restore {} --database sqlite:{} \
             --replace",
            backup.display(),
            path.display()
        )
    })
}

/// The way out after an error of the file system, if it is about rights.
fn work_as_owner(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied {
        " Work as the user who owns the database."
    } else {
        ""
    }
}

/// An error of SQLite as sentences.
fn sqlite_words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        // Even a reader writes to the memory that a database in use shares, beside its file.
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "The database cannot be opened: this user must not write beside it. Work as the user who owns the database."
                .to_owned()
        }
        // Such as on a file system that is mounted to be read only.
        Some(ErrorCode::CannotOpen) => format!(
            "The database cannot be opened: {error}. SQLite also writes beside it, so its folder must take files."
        ),
        _ => format!("The database cannot be opened: {error}."),
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        if says_unfit(&error) {
            Self::NotShared
        } else if says_full(&error) {
            Self::Full
        } else {
            Self::Sqlite(error)
        }
    }
}

impl OpenError {
    /// The error for a damaged file, from SQLite's verdict of several lines.
    pub(in crate::sqlite) fn damaged(path: &Path, verdict: &str) -> Self {
        let finding = verdict.lines().find(|line| !line.starts_with("***"));
        Self::Damaged(path.to_owned(), finding.unwrap_or(verdict).to_owned())
    }

    /// The same error for the file at `path`, of which the examined file is a copy.
    pub(in crate::sqlite) fn naming(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::Empty(_) => Self::Empty(path),
            Self::Foreign(_) => Self::Foreign(path),
            Self::Damaged(_, what) => Self::Damaged(path, what),
            // A backup of this name is beside the database, and not beside a copy of it.
            Self::Newer { found, known, .. } => Self::Newer {
                path,
                found,
                known,
                backup: None,
            },
            Self::Unfinished(_) => Self::Unfinished(path),
            Self::OtherSchema(_, what) => Self::OtherSchema(path, what),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn errors_of_the_disk_name_the_way_out() {
        for (code, way_out) in [
            (ffi::SQLITE_CANTOPEN, "its folder must take files."),
            (ffi::SQLITE_READONLY_DIRECTORY, "who owns the database."),
            (ffi::SQLITE_IOERR_SHMSIZE, "Make room, and start again."),
            (ffi::SQLITE_FULL, "Make room, and start again."),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let said = OpenError::from(error).to_string();
            assert!(said.ends_with(way_out), "{said}");
        }
    }
}
