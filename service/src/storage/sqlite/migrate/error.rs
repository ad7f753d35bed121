//! Why a database file cannot be opened.

use std::io;
use std::path::{Path, PathBuf};

use crate::clock::Timestamp;

/// Why a database cannot be opened. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process owns it.
    #[error("{} is in use by another Tapdesk. Close that one, or choose another database.", .0.display())]
    Taken(PathBuf),
    /// It has no content at all.
    #[error(
        "{} is empty. A Tapdesk database is never empty, so something went wrong with this file. \
         Restore a backup, or move the file away to start with a new database.", .0.display()
    )]
    Empty(PathBuf),
    /// It belongs to another program.
    #[error("{} is not a Tapdesk database. It was left as it is; choose another path.", .0.display())]
    Foreign(PathBuf),
    /// Its content is damaged.
    #[error("{file} is damaged ({what}). It was left as it is; restore a backup.", file = .0.display(), what = .1)]
    Damaged(PathBuf, String),
    /// A newer version of this program made it.
    #[error(
        "{} was made by a newer Tapdesk (format {found}, this one knows {known}). \
         It was left as it is; use the newer version.", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this program knows.
        known: u32,
    },
    /// Its file has several names.
    #[error(
        "{} has more than one name (hard links), and SQLite's log stands beside one of them alone. \
         Remove the other names, or make them copies.", .0.display()
    )]
    SeveralNames(PathBuf),
    /// A backup contains a schema that is not ours.
    #[error("{file} is no backup of Tapdesk: {what}, unlike any database of ours. Nothing was changed; restore another one.",
        file = .0.display(), what = .1)]
    OtherSchema(PathBuf, String),
    /// Everything in it was moved to another database.
    #[error(
        "{file} was moved to {to} at {at}: serve that one, for each would accept a tap that the other has accepted. \
         To go back to what is in this file all the same, restore it into a new database: \
         tapdesk-service restore {file}.", file = .path.display()
    )]
    Moved {
        /// The file.
        path: PathBuf,
        /// Where everything is now.
        to: String,
        /// Since when.
        at: Timestamp,
    },
    /// A move to here was not finished.
    #[error(
        "A move into {} was not finished. Start migrate-store again with the same --from and --to, \
         and it goes on where it was.", .0.display()
    )]
    Unfinished(PathBuf),
    /// The SQLite this program was built with is too old to be safe.
    #[error("SQLite {0} can lose committed writes; 3.51.3 or newer is needed.")]
    OldSqlite(&'static str),
    /// The file system refused.
    #[error("{file} cannot be opened: {error}.", file = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
    /// A migration failed; the database is as it was before.
    #[error("The database could not be upgraded and is as it was: {0}")]
    Migration(String),
    /// SQLite refused.
    #[error("The database cannot be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl OpenError {
    /// The file is damaged, by SQLite's own verdict of several lines.
    pub(in crate::storage::sqlite) fn damaged(path: &Path, verdict: &str) -> Self {
        let finding = verdict.lines().find(|line| !line.starts_with("***"));
        Self::Damaged(path.to_owned(), finding.unwrap_or(verdict).to_owned())
    }

    /// The same said of the file at `path`, of which another one is a copy.
    pub(in crate::storage::sqlite) fn naming(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::Empty(_) => Self::Empty(path),
            Self::Foreign(_) => Self::Foreign(path),
            Self::Damaged(_, what) => Self::Damaged(path, what),
            Self::Newer { found, known, .. } => Self::Newer { path, found, known },
            Self::Unfinished(_) => Self::Unfinished(path),
            Self::OtherSchema(_, what) => Self::OtherSchema(path, what),
            other => other,
        }
    }
}
