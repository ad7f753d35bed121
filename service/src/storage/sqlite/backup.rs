//! A consistent copy of the database while it is in use.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;

use super::expired_keys;
use crate::storage::{BackupNote, StorageError};

/// The row of `settings` in which a copy says that it is one.
pub(super) const NOTE: &str = "backup";

/// Copies the database at `path`, through a reading connection to it, into a
/// file beside it that has lost its name already: whoever fails, nothing stays.
pub(super) fn copy(
    connection: &Connection,
    path: &Path,
    note: &BackupNote,
) -> Result<File, StorageError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let copy = tempfile::Builder::new()
        .prefix(".tapdesk-backup-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(|error| from_io(&error))?;
    // One read transaction: the writer goes on beside it.
    connection.execute("VACUUM INTO ?1", [copy.path().to_string_lossy()])?;
    let annotated = Connection::open(copy.path())?;
    // What stands for a moment only needs no journal.
    annotated.pragma_update(None, "journal_mode", "OFF")?;
    expired_keys::expire_all(&annotated)?;
    let json =
        serde_json::to_string(note).map_err(|error| StorageError::Failed(error.to_string()))?;
    annotated.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)",
        (NOTE, json),
    )?;
    annotated.close().map_err(|(_, error)| error)?;
    copy.reopen().map_err(|error| from_io(&error))
}

fn from_io(error: &std::io::Error) -> StorageError {
    if error.kind() == std::io::ErrorKind::StorageFull {
        StorageError::Full
    } else {
        StorageError::Failed(error.to_string())
    }
}
