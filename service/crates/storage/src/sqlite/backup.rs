//! A consistent copy of the database while it is in use.

use std::fs::File;
use std::io::Seek as _;
use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::place::folder_of;
use super::{expired_keys, seal};
use crate::{BackupNote, StorageError};
use domain::keyring::BackupKey;

/// The row of `settings` that marks a file as a backup.
pub(super) const NOTE: &str = "backup";

/// Copies the database at `path`, through a reading connection, into a file next to it. The copy
/// has no name any more when this returns, so that no failure leaves a file behind.
pub(super) fn copy(
    connection: &Connection,
    path: &Path,
    note: &BackupNote,
    key: Option<&BackupKey>,
) -> Result<File, StorageError> {
    let copy = tempfile::Builder::new()
        .prefix(".tapdesk-backup-")
        .tempfile_in(folder_of(path))
        .map_err(|error| from_io(&error))?;
    // This is one read transaction, so the writer continues meanwhile.
    connection.execute("VACUUM INTO ?1", [copy.path().to_string_lossy()])?;
    let annotated = Connection::open(copy.path())?;
    // A temporary file needs no journal.
    annotated.pragma_update(None, "journal_mode", "OFF")?;
    expired_keys::expire_all(&annotated)?;
    let json =
        serde_json::to_string(note).map_err(|error| StorageError::Failed(error.to_string()))?;
    annotated.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)",
        (NOTE, json),
    )?;
    annotated.close().map_err(|(_, error)| error)?;
    let mut file = copy.reopen().map_err(|error| from_io(&error))?;
    seal::append(&mut file, key).map_err(|error| from_io(&error))?;
    file.rewind().map_err(|error| from_io(&error))?;
    Ok(file)
}

/// A folder next to the database at `path`, which need not exist, for files of its size. Dropping
/// the value removes it.
pub fn temporary_folder(path: &Path) -> Result<TempDir, StorageError> {
    let made = tempfile::Builder::new()
        .prefix(".tapdesk-check-")
        .tempdir_in(folder_of(path));
    made.map_err(|error| from_io(&error))
}

fn from_io(error: &std::io::Error) -> StorageError {
    if error.kind() == std::io::ErrorKind::StorageFull {
        StorageError::Full
    } else {
        StorageError::Failed(error.to_string())
    }
}
