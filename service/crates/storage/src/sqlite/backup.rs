//! A consistent copy of the database while it is in use, and temporary folders for such files.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;

use rusqlite::Connection;

use super::place::folder_of;
use super::{expired_keys, seal};
use crate::{BackupNote, StorageError};
use domain::keyring::BackupKey;
use domain::private_file;
use domain::temporary_folder::{TemporaryFolder, remove_leftovers};

/// The row of `settings` that marks a file as a backup.
pub(super) const NOTE: &str = "backup";
/// How the names of temporary folders begin.
const PREFIX: &str = ".tapdesk-check-";

/// Copies the database at `path`, through a reading connection, into a file in a temporary folder.
/// The copy has no name any more when this returns, so that no failure leaves a file behind.
pub(super) fn copy(
    connection: &Connection,
    path: &Path,
    note: &BackupNote,
    key: Option<&BackupKey>,
) -> Result<File, StorageError> {
    let folder = temporary_folder(path)?;
    let copy = folder.path().join("copy.db");
    private_file::create_empty(&copy).map_err(|error| from_io(&error))?;
    // This is one read transaction, so the writer continues meanwhile.
    connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
    let annotated = Connection::open(&copy)?;
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
    let mut file = File::options()
        .read(true)
        .write(true)
        .open(&copy)
        .map_err(|error| from_io(&error))?;
    seal::append(&mut file, key).map_err(|error| from_io(&error))?;
    file.rewind().map_err(|error| from_io(&error))?;
    Ok(file)
}

/// A folder next to the file at `path`, which need not exist, for files of its size. Dropping the
/// value removes it. Those of killed processes are removed before.
pub fn temporary_folder(path: &Path) -> Result<TemporaryFolder, StorageError> {
    folder_beside(path).map_err(|error| from_io(&error))
}

/// The same as [`temporary_folder`], with the system's error.
pub(super) fn folder_beside(path: &Path) -> io::Result<TemporaryFolder> {
    remove_temporary_folders(path);
    TemporaryFolder::new_in(folder_of(path), PREFIX)
}

/// Removes the temporary folders next to the file at `path` that killed processes left behind.
pub(super) fn remove_temporary_folders(path: &Path) {
    remove_leftovers(folder_of(path), PREFIX);
}

fn from_io(error: &io::Error) -> StorageError {
    if error.kind() == io::ErrorKind::StorageFull {
        StorageError::Full
    } else {
        StorageError::Failed(error.to_string())
    }
}
