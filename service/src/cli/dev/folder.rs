//! The folder of a service for development, and those that killed ones left behind.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use tapdesk_service::temporary_folder::{TemporaryFolder, remove_leftovers};

/// A file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";
/// How the names of the folders begin.
const PREFIX: &str = "tapdesk-dev-";

/// A folder of this user only, in memory where the system has a place for that.
///
/// SQLite's own databases in memory do not fit: the service reads over a pool of connections beside
/// its writer's, and they share the log of one file (WAL), which a database in memory does not have.
pub(super) struct Folder(TemporaryFolder);

impl Folder {
    /// Makes a folder that belongs to this process.
    pub(super) fn new() -> Result<Self> {
        let in_memory = TemporaryFolder::new_in(Path::new(MEMORY), PREFIX);
        let folder = in_memory
            .or_else(|_| TemporaryFolder::new_in(&std::env::temp_dir(), PREFIX))
            .context("There is no folder for temporary files.")?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes the folders of services that were killed, in the background: there may be many.
    pub(super) fn remove_leftovers(&self) {
        let Some(place) = self.path().parent().map(Path::to_owned) else {
            return;
        };
        std::thread::spawn(move || remove_leftovers(&place, PREFIX));
    }

    /// Removes the folder and everything in it.
    pub(super) fn close(self) -> Result<()> {
        let closed = self.0.close();
        closed.map_err(|error| anyhow!("The files of the service cannot be removed: {error}."))
    }
}
