//! One process owns a database: an advisory lock on a file beside it, which the
//! system gives back however the process ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::OpenError;

/// The lock, held as long as this value lives.
pub(super) struct Lock(#[expect(dead_code, reason = "held for its lock")] File);

impl Lock {
    /// Takes the lock of the database at `path`, or says that it is taken.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(lock_path(path))
            .map_err(|error| OpenError::Io(path.to_owned(), error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::Taken(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(OpenError::Io(path.to_owned(), error)),
        }
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    PathBuf::from(name)
}
