//! Temporary folders that do not stay for ever if their process is killed: the system releases the
//! lock of the folder, and the next process in the same place removes folders that nobody holds.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// The file whose lock the folder's process holds. The system releases it however the process ends.
const LOCK: &str = ".held";
/// The name of that file until its lock is held.
const NEW_LOCK: &str = ".held-new";

/// A folder that only this user may read. Dropping it removes it with its content.
#[derive(Debug)]
pub struct TemporaryFolder {
    // Removed before the lock is released, which is the order of the fields.
    directory: TempDir,
    lock: File,
}

impl TemporaryFolder {
    /// Makes a folder in `place` that belongs to this process. Its name begins with `prefix`.
    pub fn new_in(place: &Path, prefix: &str) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
        let lock = held(directory.path())?;
        Ok(Self { directory, lock })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Removes the folder and everything in it, and reports a failure.
    pub fn close(self) -> io::Result<()> {
        let Self { directory, lock } = self;
        let closed = directory.close();
        drop(lock);
        closed
    }
}

/// Removes each folder in `place` whose name begins with `prefix` and whose process has ended. If one
/// cannot be removed, the next call tries again.
pub fn remove_leftovers(place: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = remove_ended(&entry.path());
        }
    }
}

/// Makes the lock file of a folder. It gets its name when its lock is held, so nobody takes the
/// folder for a leftover before.
fn held(folder: &Path) -> io::Result<File> {
    let new = folder.join(NEW_LOCK);
    let file = File::create_new(&new)?;
    file.lock()?;
    fs::rename(&new, folder.join(LOCK))?;
    Ok(file)
}

/// Removes a folder whose lock nobody holds.
fn remove_ended(folder: &Path) -> io::Result<()> {
    let lock = folder.join(LOCK);
    // Opening a pipe of somebody else would wait for a reader.
    if !fs::symlink_metadata(&lock)?.is_file() {
        return Ok(());
    }
    let lock = File::options().write(true).open(lock)?;
    if lock.try_lock().is_ok() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_without_a_process_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let running = TemporaryFolder::new_in(place.path(), ".check-").unwrap();
        let [ended, starting, other] = [".check-a", ".check-b", "b"].map(|name| {
            let folder = place.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        });
        for folder in [&ended, &other] {
            held(folder).unwrap().unlock().unwrap();
        }
        fs::write(ended.join("tapdesk.db"), "much").unwrap();
        remove_leftovers(place.path(), ".check-");
        let folders = [running.path(), &ended, &starting, &other];
        assert_eq!(
            folders.map(Path::exists),
            [true, false, true, true],
            "{folders:?}"
        );
        let path = running.path().to_owned();
        running.close().unwrap();
        assert!(!path.exists());
    }
}
