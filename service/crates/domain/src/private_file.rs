//! Files and folders that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Writes a new file of mode 0600, with a line break after its content. The file is on disk when
/// this returns. Fails if one exists.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = open_new(path)?;
    let written = write_line(&mut file, content);
    if written.is_err() {
        // On a full disk an empty file would stay, and the next start would take it for the whole one.
        let _ = std::fs::remove_file(path);
    }
    written?;
    sync_folder_of(path)
}

fn write_line(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Creates an empty file of mode 0600. Fails if one exists.
pub fn create_empty(path: &Path) -> io::Result<()> {
    open_new(path).map(drop)
}

/// Whether users other than its owner may read the file. On systems without such modes the answer
/// is no.
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

/// Makes sure that the present name of `path` is on disk.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Renames `from` to `to`. If `to` already exists (`AlreadyExists`), both stay as they are: no file
/// is ever overwritten.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = TempPath::try_from_path(from)?;
    // It is not a temporary file: it must stay if it cannot be renamed.
    from.disable_cleanup(true);
    from.persist_noclobber(to).map_err(|error| error.error)
}

/// `path` with `suffix`, and with a number if needed: the first name that is not `taken`.
pub fn unused_name(path: &Path, suffix: &str, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    let mut candidate = PathBuf::from(&name);
    let mut number = 1;
    while taken(&candidate) {
        number += 1;
        let mut numbered = name.clone();
        numbered.push(format!("-{number}"));
        candidate = PathBuf::from(numbered);
    }
    candidate
}

/// Whether the name `path` exists, even as a dangling link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Renames the file at `path` to an unused name with `suffix`, and returns that name.
pub fn move_aside(path: &Path, suffix: &str) -> io::Result<PathBuf> {
    loop {
        let aside = unused_name(path, suffix, is_there);
        match rename_new(path, &aside) {
            // Another process took the name meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| aside),
        }
    }
}

/// Creates the folder of `path` if it is missing, readable only by its owner.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_aside_has_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inlay.key");
        let mut names = Vec::new();
        for content in ["one", "two", "three"] {
            std::fs::write(&path, content).unwrap();
            let aside = move_aside(&path, ".replaced-at-7").unwrap();
            assert!(!path.exists());
            assert_eq!(std::fs::read_to_string(&aside).unwrap(), content);
            names.push(aside.file_name().unwrap().to_str().unwrap().to_owned());
        }
        let expected = ["", "-2", "-3"].map(|end| format!("inlay.key.replaced-at-7{end}"));
        assert_eq!(names, expected);
        for (name, content) in expected.iter().zip(["one", "two", "three"]) {
            assert_eq!(
                std::fs::read_to_string(folder.path().join(name)).unwrap(),
                content
            );
        }
        assert!(
            move_aside(&path, ".replaced-at-7").is_err(),
            "there is nothing"
        );
    }

    #[test]
    fn a_name_that_something_has_is_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        for path in [&from, &to] {
            std::fs::write(path, path.as_os_str().as_encoded_bytes()).unwrap();
        }
        let refused = rename_new(&from, &to).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        for path in [&from, &to] {
            assert_eq!(
                std::fs::read(path).unwrap(),
                path.as_os_str().as_encoded_bytes()
            );
        }
    }
}
