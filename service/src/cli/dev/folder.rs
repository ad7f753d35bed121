//! The folder of a service for development, and those that killed ones left behind.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use tempfile::TempDir;

/// A file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";
/// How the names of the folders begin.
const PREFIX: &str = "tapdesk-dev-";
/// The file whose lock its service holds. The system releases it however the service ends.
const LOCK: &str = "dev.lock";
/// The name of that file until its lock is held.
const NEW_LOCK: &str = "dev.lock-new";

/// A folder of this user only, in memory where the system has a place for that.
///
/// SQLite's own databases in memory do not fit: the service reads over a pool of connections beside
/// its writer's, and they share the log of one file (WAL), which a database in memory does not have.
pub(super) struct Folder {
    // Removed before the lock is released, which is the order of the fields.
    directory: TempDir,
    lock: File,
}

impl Folder {
    /// Makes a folder that belongs to this process.
    pub(super) fn new() -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        let in_memory = builder.tempdir_in(MEMORY);
        let directory = in_memory
            .or_else(|_| builder.tempdir())
            .context("There is no folder for temporary files.")?;
        let lock = held(directory.path())
            .with_context(|| format!("{} cannot be written.", directory.path().display()))?;
        Ok(Self { directory, lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Removes the folders of services that were killed, in the background: there may be many.
    pub(super) fn remove_leftovers(&self) {
        let Some(place) = self.path().parent().map(Path::to_owned) else {
            return;
        };
        std::thread::spawn(move || leftovers(&place));
    }

    /// Removes the folder and everything in it.
    pub(super) fn close(self) -> Result<()> {
        let Self { directory, lock } = self;
        let closed = directory.close();
        drop(lock);
        closed.map_err(|error| anyhow!("The files of the service cannot be removed: {error}."))
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

/// Removes each folder whose service has ended. What cannot be removed is left for the next start.
fn leftovers(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = remove_ended(&entry.path());
        }
    }
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
    fn only_folders_without_a_service_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let [running, ended, starting, other] =
            ["tapdesk-dev-a", "tapdesk-dev-b", "tapdesk-dev-c", "b"].map(|name| {
                let folder = place.path().join(name);
                fs::create_dir(&folder).unwrap();
                folder
            });
        let lock = held(&running).unwrap();
        for folder in [&ended, &other] {
            held(folder).unwrap().unlock().unwrap();
        }
        leftovers(place.path());
        let exist = [&running, &ended, &starting, &other].map(|folder| folder.exists());
        assert_eq!(exist, [true, false, true, true]);
        lock.unlock().unwrap();
        leftovers(place.path());
        assert!(!running.exists());
    }
}
