//! Files and folders that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a new file of mode 0600, a line break after its content. It is on
/// disk when this returns. Fails where one exists.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = open_new(path)?;
    file.write_all(content)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    sync_folder_of(path)
}

/// Makes an empty file of mode 0600. Fails where one exists.
pub fn create_empty(path: &Path) -> io::Result<()> {
    open_new(path).map(drop)
}

/// Whether others than its owner may read the file. Where files have no such
/// modes, nobody else may.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let metadata = path.metadata()?;
    #[cfg(unix)]
    let open = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0;
    #[cfg(not(unix))]
    let open = {
        let _ = metadata;
        false
    };
    Ok(open)
}

/// Makes it durable that `path` has the name it has.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Makes the folder that `path` is to be in, for its owner alone, where it is missing.
pub fn make_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
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
