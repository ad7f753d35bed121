//! The files of a rotation: the present key, and next to it the new key until it replaces it.

use std::path::{Path, PathBuf};

use super::places::{KeyPlaces, Names, WrappingKey};
use domain::clock::Timestamp;
use domain::keyring::{KeyFileError, file};
use domain::private_file;

/// The key files of a rotation.
pub struct KeyFiles {
    present: PathBuf,
    next: PathBuf,
    find: &'static str,
}

impl KeyFiles {
    /// The present key is in `present`; the new one will be next to it. `find` is the way out if
    /// the present key is missing, or belongs to another database.
    pub fn of(present: &Path, find: &'static str) -> Self {
        Self {
            present: present.to_owned(),
            next: with(present, ".next"),
            find,
        }
    }

    /// Whether there is a file with the present key, or with the new one of a rotation.
    pub fn are_there(&self) -> bool {
        private_file::is_there(&self.present) || private_file::is_there(&self.next)
    }
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn read(path: &Path) -> Result<Option<WrappingKey>, String> {
    file::read(path).map_err(|error| error.to_string())
}

impl KeyPlaces for KeyFiles {
    fn present(&self) -> Result<Option<WrappingKey>, String> {
        read(&self.present)
    }

    fn next(&self) -> Result<Option<WrappingKey>, String> {
        read(&self.next)
    }

    fn keep_next(&self, key: &WrappingKey) -> Result<(), String> {
        // An incomplete file would block every later rotation.
        let part = with(&self.next, ".part");
        let io = |error| KeyFileError::Io(part.clone(), error).to_string();
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        file::create(&part, key).map_err(|error| error.to_string())?;
        private_file::rename_new(&part, &self.next)
            .and_then(|()| private_file::sync_folder_of(&self.next))
            .map_err(io)
    }

    fn replace(&self, now: Timestamp) -> Result<Option<String>, String> {
        if !private_file::is_there(&self.next) {
            return Ok(None);
        }
        let moved = |error| {
            let file = self.present.display();
            format!("{file} cannot be moved: {error}. Start the same rotation again to continue.")
        };
        let aside = if private_file::is_there(&self.present) {
            let suffix = format!(".replaced-at-{}", now.unix_seconds());
            Some(private_file::move_aside(&self.present, &suffix).map_err(moved)?)
        } else {
            None
        };
        private_file::rename_new(&self.next, &self.present)
            .and_then(|()| private_file::sync_folder_of(&self.present))
            .map_err(moved)?;
        Ok(aside.map(|path| path.display().to_string()))
    }

    fn names(&self) -> Names {
        Names {
            present: format!("the file {}", self.present.display()),
            next: format!("the file {}", self.next.display()),
            find: self.find,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotate::places::keys;
    use crate::rotate::{PROBE, RotateError, is_new_key};
    use domain::entropy::OsEntropy;
    use domain::keyring::Keyring;
    use storage::KeyRotation;

    const NOW: Timestamp = Timestamp::from_millis(7_000);

    fn rotation(new: &Keyring) -> KeyRotation {
        KeyRotation {
            began_at: NOW,
            probe: new.wrap_secret(PROBE, &OsEntropy).unwrap(),
        }
    }

    #[test]
    fn wherever_a_rotation_is_ended_its_keys_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inlay.key");
        let files = KeyFiles::of(&path, "Find it.");
        let keys = |rotation, wrapped| keys(&files, rotation, wrapped, &OsEntropy);
        let missing = keys(None, None).err().unwrap().to_string();
        assert!(missing.ends_with("inlay.key. Find it."), "{missing}");
        file::create(&path, &[1; 32]).unwrap();
        let secret = Keyring::open(&[1; 32]).wrap_secret(b"s", &OsEntropy);
        let secret = secret.unwrap();
        let other = Keyring::open(&[2; 32]).wrap_secret(b"s", &OsEntropy);
        let other = other.unwrap();
        let refused = keys(None, Some(&other));
        assert!(matches!(refused, Err(RotateError::OtherKey(_))));

        // The new key is completely stored before anything changes, and stays the same.
        std::fs::write(folder.path().join("inlay.key.next.part"), b"a5").unwrap();
        let begun = keys(None, Some(&secret)).unwrap();
        let again = keys(None, Some(&secret)).unwrap();
        let mark = rotation(&begun.new);
        assert!(is_new_key(&again.new, &mark));
        let going_on = keys(Some(&mark), Some(&secret)).unwrap();
        assert!(is_new_key(&going_on.new, &mark) && going_on.former.is_some());

        // A crash between the two moves.
        let aside = private_file::move_aside(&path, ".replaced-at-7").unwrap();
        let between = keys(Some(&mark), None).unwrap();
        assert!(is_new_key(&between.new, &mark) && between.former.is_none());
        assert_eq!(files.replace(NOW).unwrap(), None);
        assert_eq!(file::read(&aside).unwrap().as_deref(), Some(&[1; 32]));
        let after = keys(Some(&mark), None).unwrap();
        assert!(is_new_key(&after.new, &mark) && after.former.is_none());
        // Called again, it moves nothing.
        let new = file::read(&path).unwrap();
        assert_eq!(files.replace(NOW).unwrap(), None);
        assert_eq!(file::read(&path).unwrap(), new);
    }

    #[test]
    fn a_new_key_that_is_gone_is_never_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inlay.key");
        let files = KeyFiles::of(&path, "Find it.");
        file::create(&path, &[1; 32]).unwrap();
        let mark = rotation(&Keyring::open(&[9; 32]));
        let gone = keys(&files, Some(&mark), None, &OsEntropy);
        assert!(matches!(gone, Err(RotateError::NewKeyMissing(_))));
        assert!(file::read(&files.next).unwrap().is_none());
    }
}
