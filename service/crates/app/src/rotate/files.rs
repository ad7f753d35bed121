//! The key files of a rotation or a restore: the present key, and next to it the new key until it
//! replaces it.

use std::path::{Path, PathBuf};

use super::places::{KeyPlaces, Names, WrappingKey};
use domain::clock::Timestamp;
use domain::keyring::{KeyFileError, Keyring, file};
use domain::private_file;

/// The key files of a rotation or a restore.
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

    /// The present key is in `present`. The key of a backup is next to it until the restored database
    /// is in its place. A rotation never uses it, because it needs a new key.
    pub fn of_restore(present: &Path) -> Self {
        Self {
            present: present.to_owned(),
            next: with(present, ".restoring"),
            find: "Restore the backup again.",
        }
    }

    /// Stores the key of a backup. Another one that a killed restore left is kept under another name.
    /// An `Err` is a sentence for people.
    pub fn keep_restored(&self, key: &WrappingKey, now: Timestamp) -> Result<(), String> {
        match self.next()? {
            Some(left) if left == *key => return Ok(()),
            Some(_) => {
                let io = |error| KeyFileError::Io(self.next.clone(), error).to_string();
                private_file::move_aside(&self.next, &replaced_at(now)).map_err(io)?;
            }
            None => {}
        }
        self.keep_next(key)
    }

    /// Whether a restore was killed after its database took its place, and before its key did.
    /// `wrapped` is any inlay's key in the database. An `Err` is a sentence for people.
    pub fn is_half_restored(&self, wrapped: &[u8]) -> Result<bool, String> {
        let opens = |key: &WrappingKey| {
            let keyring = Keyring::open(key).for_stored(Some(wrapped));
            keyring.why_locked().is_none()
        };
        let Some(restored) = self.next()? else {
            return Ok(false);
        };
        let present = self.present()?;
        Ok(!present.as_ref().is_some_and(opens) && opens(&restored))
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

fn replaced_at(now: Timestamp) -> String {
    format!(".replaced-at-{}", now.unix_seconds())
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
            format!("{file} cannot be moved: {error}. Start the same again to continue.")
        };
        let aside = if private_file::is_there(&self.present) {
            Some(private_file::move_aside(&self.present, &replaced_at(now)).map_err(moved)?)
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
    use storage::KeyRotation;
    use zeroize::Zeroizing;

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
    fn the_key_of_a_killed_restore_takes_its_place_only_if_the_database_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inlay.key");
        let files = KeyFiles::of_restore(&path);
        let is_half = |key: u8| {
            let wrapped = Keyring::open(&[key; 32]).wrap(&[7; 16], &OsEntropy);
            files.is_half_restored(&wrapped.unwrap()).unwrap()
        };
        file::create(&path, &[1; 32]).unwrap();
        assert!(!is_half(3));
        files.keep_restored(&Zeroizing::new([2; 32]), NOW).unwrap();
        // That one was killed before its database took its place, and another backup is restored.
        for _ in 0..2 {
            files.keep_restored(&Zeroizing::new([3; 32]), NOW).unwrap();
        }
        let left = with(&files.next, ".replaced-at-7");
        assert_eq!(file::read(&left).unwrap().as_deref(), Some(&[2; 32]));
        assert_eq!([1, 2, 3].map(is_half), [false, false, true]);
        // A crash between the two moves.
        private_file::move_aside(&path, ".replaced-at-7").unwrap();
        assert!(is_half(3));
        assert_eq!(files.replace(NOW).unwrap(), None);
        assert_eq!(file::read(&path).unwrap().as_deref(), Some(&[3; 32]));
        assert!(!is_half(3));
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
