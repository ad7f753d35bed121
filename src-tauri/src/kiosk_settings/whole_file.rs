//! Files of the kiosk's folder. A visitor can pull the plug at any moment, and several users of the
//! machine can share the folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tapdesk_service::private_file;

/// Writes a file, whole or not at all, and creates its folder. It is on disk when this returns.
/// Only the users who share the folder can read it. It replaces the file of another user, too,
/// which could not be opened for writing.
pub(crate) fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    private_file::make_folder_of(file)?;
    // Two processes never write to the same draft.
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    let written = write_new(&draft, content).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // The error says why. There may be no draft.
        let _ = fs::remove_file(&draft);
    }
    written?;
    // Other systems open no folder as a file.
    #[cfg(unix)]
    private_file::sync_folder_of(file)?;
    Ok(())
}

fn write_new(draft: &Path, content: &[u8]) -> io::Result<()> {
    // A process of the same number may have ended here.
    let _ = fs::remove_file(draft);
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o660);
    let mut out = options.open(draft)?;
    out.write_all(content)?;
    out.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_even_if_nobody_may_write_to_it() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("kiosk/tries.json");
        write(&file, b"{}").unwrap();
        // As the file of another user.
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        write(&file, b"[]").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"[]");
        let folder = file.parent().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no draft stays");
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        // A folder cannot be replaced by a file.
        let file = home.path().join("tries.json");
        fs::create_dir(&file).unwrap();
        assert!(write(&file, b"{}").is_err());
        assert!(file.is_dir());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
