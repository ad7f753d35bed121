//! One process owns a database. It holds an advisory lock on a file next to the database, which the
//! system releases however the process ends.
//!
//! The lock file is next to the file that all symbolic links lead to. Hard links cannot be
//! followed, and SQLite's log has a separate name next to each of them, so a file with several
//! names is refused. The database itself is not opened here: a process that closes a file loses
//! every POSIX lock it has on it, including SQLite's.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::migrate::beside;
use super::{OpenError, place};

/// Longest chain of symbolic links, as in Linux.
const LINKS_MAX: usize = 40;

/// The lock, held as long as this value exists.
pub(super) struct Lock {
    /// The path of the database, with all links resolved.
    database: PathBuf,
    /// The lock file, if it did not exist before.
    new_file: Option<PathBuf>,
    held: File,
}

impl Lock {
    /// Takes the lock of the database at `path`; fails if another process holds it.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let io = |error| OpenError::Io(path.to_owned(), error);
        let database = without_links(path).map_err(io)?;
        place::check(&database)?;
        let name = beside(&database, ".lock");
        let is_new = !name.try_exists().map_err(io)?;
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&name)
            .map_err(io)?;
        let lock = Self {
            database,
            new_file: is_new.then_some(name),
            held: file,
        };
        match lock.held.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Taken(path.to_owned())),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                lock.discard();
                return Err(OpenError::NotShared);
            }
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        if has_several_names(&lock.database).map_err(io)? {
            return Err(OpenError::SeveralNames(path.to_owned()));
        }
        Ok(lock)
    }

    /// Releases the lock in a place that is unfit for a database, and removes its file if this
    /// value created it.
    pub(super) fn discard(self) {
        if let Some(file) = &self.new_file {
            // A lock file that cannot be removed does no harm.
            let _ = fs::remove_file(file);
        }
    }

    /// The path of the database. Its other files are next to this path.
    pub(super) fn database(&self) -> &Path {
        &self.database
    }
}

/// A closed file keeps its lock as long as a copy of its handle exists, and a child process has one
/// between its creation and its program. Therefore the lock is released before the file is closed.
impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that cannot be released ends with the process.
        let _ = self.held.unlock();
    }
}

/// The target of `path` after all links. It need not exist.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found,
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
        match fs::read_link(&path) {
            // A link whose target does not exist yet.
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(folder.join(path.file_name().unwrap_or_default())),
        }
    }
    Err(ErrorKind::NotFound.into())
}

#[cfg(unix)]
fn has_several_names(database: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    match database.metadata() {
        Ok(metadata) => Ok(metadata.is_file() && metadata.nlink() > 1),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn has_several_names(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_released_lock_is_free_although_a_child_process_still_has_its_handle() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("tapdesk.db");
        let lock = Lock::take(&database).unwrap();
        let of_child = lock.held.try_clone().unwrap();
        let taken = Lock::take(&database).err();
        assert!(matches!(taken, Some(OpenError::Taken(_))), "{taken:?}");
        drop(lock);
        let free = Lock::take(&database);
        assert!(free.is_ok(), "{:?}", free.err());
        drop(of_child);
    }

    #[test]
    fn links_are_followed_to_where_a_database_is_or_is_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [first, second, nothing] = ["a", "b", "c"].map(|name| folder.join(name));
        symlink("b", &first).unwrap();
        symlink(&nothing, &second).unwrap();
        assert_eq!(without_links(&first).unwrap(), nothing);
        fs::write(&nothing, "").unwrap();
        assert_eq!(without_links(&first).unwrap(), nothing);
        fs::remove_file(&nothing).unwrap();
        symlink(&first, &nothing).unwrap();
        assert!(without_links(&first).is_err(), "links in a circle");
        assert!(without_links(&folder.join("no/such/folder")).is_err());
    }
}
