//! Files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a new file of mode 0600. Fails where one exists.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = open_new(path)?;
    file.write_all(content)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(unix)]
fn open_new(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn open_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
