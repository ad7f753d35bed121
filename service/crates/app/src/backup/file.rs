//! The files of backups: written under a temporary name, read back, and renamed once they are
//! checked.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use chrono::DateTime;
use sha2::{Digest as _, Sha256};

use super::{BackupError, folder};
use domain::clock::{Millis, Timestamp};
use domain::private_file;

/// Size of one read, in bytes.
const PIECE: usize = 256 * 1024;

/// A backup that is written but not renamed yet. Dropping it removes the file.
pub(super) struct Written {
    pub(super) path: PathBuf,
    name: String,
    bytes: u64,
    kept: bool,
}

impl Drop for Written {
    fn drop(&mut self) {
        if !self.kept {
            // A file that cannot be removed is overwritten by the next one of its name.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

pub(super) fn check_folder(folder: &Path) -> Result<(), BackupError> {
    folder::check(folder)?;
    let failed = |error| BackupError::File(folder.to_owned(), error);
    let probe = folder.join(".tapdesk-writable");
    private_file::make_folder_of(&probe).map_err(failed)?;
    // A file that a crash left.
    let _ = std::fs::remove_file(&probe);
    private_file::create(&probe, b"").map_err(failed)?;
    std::fs::remove_file(&probe).map_err(failed)
}

/// Age from which an unfinished backup is of a killed process: no backup takes so long.
const UNFINISHED: Millis = Millis::days(1);

/// Removes unfinished backups that killed processes left in the folder. Other services may write
/// theirs to it now, so only old ones are removed.
fn remove_unfinished(folder: &Path, now: Timestamp) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    // Names contain the time, so their order is that of their times.
    let until = part_name(&name(now.minus(UNFINISHED)));
    for entry in entries.flatten() {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        let is_part = file.starts_with(".tapdesk-") && file.ends_with(".backup.part");
        if is_part && file.len() == until.len() && *file < *until {
            // One that cannot be removed now is removed before a later backup.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn part_name(name: &str) -> String {
    format!(".{name}.part")
}

/// Writes `copy` into the folder, and reads it back from there.
pub(super) fn write(folder: &Path, at: Timestamp, mut copy: File) -> Result<Written, BackupError> {
    folder::check(folder)?;
    let name = name(at);
    let path = folder.join(part_name(&name));
    let failed = |error| BackupError::File(path.clone(), error);
    private_file::make_folder_of(&path).map_err(failed)?;
    remove_unfinished(folder, at);
    if private_file::is_there(&path) {
        // Left by an interrupted backup; two are never made at the same time.
        std::fs::remove_file(&path).map_err(failed)?;
    }
    private_file::create_empty(&path).map_err(failed)?;
    let mut written = Written {
        path: path.clone(),
        name,
        bytes: 0,
        kept: false,
    };
    let mut file = File::options().write(true).open(&path).map_err(failed)?;
    copy.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut digest = Sha256::new();
    written.bytes = pieces(&mut copy, |piece| {
        digest.update(piece);
        file.write_all(piece)
    })
    .map_err(failed)?;
    file.sync_all().map_err(failed)?;
    drop(file);
    let mut again = Sha256::new();
    let mut file = File::open(&path).map_err(failed)?;
    pieces(&mut file, |piece| {
        again.update(piece);
        Ok(())
    })
    .map_err(failed)?;
    if digest.finalize() != again.finalize() {
        return Err(BackupError::Differs(path));
    }
    Ok(written)
}

/// Gives a backup its final name; returns the name and its size.
pub(super) fn keep(mut written: Written) -> Result<(String, u64), BackupError> {
    let path = written.path.with_file_name(&written.name);
    private_file::rename_new(&written.path, &path)
        .and_then(|()| private_file::sync_folder_of(&path))
        .map_err(|error| BackupError::File(path, error))?;
    written.kept = true;
    Ok((written.name.clone(), written.bytes))
}

/// Removes these files; returns those that do not exist any more.
pub(super) fn remove(folder: &Path, names: Vec<String>) -> Vec<String> {
    let is_gone = |name: &String| match std::fs::remove_file(folder.join(name)) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    names.into_iter().filter(is_gone).collect()
}

/// The file name of a backup made at `at`, without a folder.
pub fn name(at: Timestamp) -> String {
    DateTime::from_timestamp_millis(at.millis())
        .unwrap_or_default()
        .format("tapdesk-%Y%m%dT%H%M%SZ.backup")
        .to_string()
}

fn pieces(from: &mut File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<u64> {
    let (mut piece, mut all) = (vec![0; PIECE], 0);
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return Ok(all);
        }
        each(&piece[..read])?;
        all += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_767_268_800_000);

    fn copy(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_backup_has_its_name_once_it_is_kept_and_overwrites_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        // An interrupted backup left this file.
        std::fs::write(folder.join(".tapdesk-20260101T120000Z.backup.part"), "x").unwrap();
        drop(write(folder, AT, copy(b"dropped")).unwrap());
        assert!(names(folder).is_empty());
        let kept = keep(write(folder, AT, copy(b"content")).unwrap()).unwrap();
        assert_eq!(kept, ("tapdesk-20260101T120000Z.backup".to_owned(), 7));
        assert_eq!(names(folder), std::slice::from_ref(&kept.0));
        let again = keep(write(folder, AT, copy(b"other")).unwrap());
        assert!(matches!(again, Err(BackupError::File(..))));
        assert_eq!(names(folder), std::slice::from_ref(&kept.0));
        assert_eq!(std::fs::read(folder.join(&kept.0)).unwrap(), b"content");
        let gone = "tapdesk-20250101T120000Z.backup".to_owned();
        let removed = remove(folder, vec![kept.0.clone(), gone.clone()]);
        assert_eq!(removed, [kept.0, gone]);
        assert!(names(folder).is_empty());
    }

    #[test]
    fn an_unfinished_backup_of_a_killed_process_is_removed_a_day_later() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let old = ".tapdesk-20251231T115959Z.backup.part";
        let kept = [
            ".tapdesk-20251231T120000Z.backup.part",
            ".tapdesk-notes.backup.part",
            "tapdesk-20250101T120000Z.backup",
        ];
        for name in [old].iter().chain(&kept) {
            std::fs::write(folder.join(name), "x").unwrap();
        }
        drop(write(folder, AT, copy(b"content")).unwrap());
        let mut left = names(folder);
        left.sort();
        assert_eq!(left, kept);
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_told() {
        let folder = tempfile::tempdir().unwrap();
        check_folder(&folder.path().join("new/one")).unwrap();
        assert!(names(&folder.path().join("new/one")).is_empty());
        std::fs::write(folder.path().join("file"), "x").unwrap();
        assert!(check_folder(&folder.path().join("file")).is_err());
    }
}
