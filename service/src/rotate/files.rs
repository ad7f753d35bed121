//! The files of a rotation: the present key, and beside it the new one until it takes its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Keys, is_new_key};
use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::keyring::{KeyFileError, Keyring, file};
use crate::private_file;
use crate::storage::KeyRotation;

/// Why the key files do not let a rotation begin, or go on. Each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] KeyFileError),
    /// A file cannot be moved.
    #[error("{file} cannot be moved: {error}. Start the same rotation again to continue.", file = .0.display(), error = .1)]
    Move(PathBuf, std::io::Error),
    /// There is no present key.
    #[error(
        "There is no key file {}. Name the one of this database with --key-file; the key of a desktop may be in \
         the system's keychain, which this command does not reach.", .0.display()
    )]
    NoKey(PathBuf),
    /// The present key is another database's.
    #[error(
        "The key in {} is not the one of this database. Name the right one with --key-file.", .0.display()
    )]
    OtherKey(PathBuf),
    /// A rotation was begun, and its new key is not there.
    #[error(
        "A rotation of this database was begun with a new key that is neither in {} nor in {}. \
         Put that file back, or restore a backup of before.", .0.display(), .1.display()
    )]
    NewKeyMissing(PathBuf, PathBuf),
}

/// The key files of a rotation.
pub struct KeyFiles {
    present: PathBuf,
    next: PathBuf,
}

impl KeyFiles {
    /// The present key in `present`; the new one will be beside it.
    pub fn of(present: &Path) -> Self {
        let mut next = present.as_os_str().to_owned();
        next.push(".next");
        Self {
            present: present.to_owned(),
            next: next.into(),
        }
    }

    /// The keys of the rotation that is not done, or of a new one: then its new key is on disk
    /// when this returns. `wrapped` is any secret of the database.
    pub fn keys(
        &self,
        rotation: Option<&KeyRotation>,
        wrapped: Option<&[u8]>,
        entropy: &dyn Entropy,
    ) -> Result<Keys, FilesError> {
        let open = |key: &Zeroizing<[u8; 32]>| Arc::new(Keyring::open(key));
        let present = file::read(&self.present)?.as_ref().map(open);
        let next = file::read(&self.next)?.as_ref().map(open);
        if let Some(rotation) = rotation {
            let is_new = |key: &Arc<Keyring>| is_new_key(key, rotation);
            return match (present, next) {
                (former, Some(new)) if is_new(&new) => Ok(Keys { former, new }),
                // It has taken its place.
                (Some(new), _) if is_new(&new) => Ok(Keys { former: None, new }),
                _ => Err(FilesError::NewKeyMissing(
                    self.next.clone(),
                    self.present.clone(),
                )),
            };
        }
        let former = present.ok_or_else(|| FilesError::NoKey(self.present.clone()))?;
        if wrapped.is_some_and(|wrapped| former.unwrap_secret(wrapped).is_err()) {
            return Err(FilesError::OtherKey(self.present.clone()));
        }
        let new = if let Some(next) = next {
            // One that was ended before it changed anything has left it.
            next
        } else {
            let key = Zeroizing::new(entropy::bytes::<32>(entropy));
            file::create(&self.next, &key)?;
            open(&key)
        };
        Ok(Keys {
            former: Some(former),
            new,
        })
    }

    /// Puts the new key in the place of the former one, which is moved aside: where to.
    pub fn replace(&self, now: Timestamp) -> Result<Option<PathBuf>, FilesError> {
        if !private_file::is_there(&self.next) {
            return Ok(None);
        }
        let moved = |error| FilesError::Move(self.present.clone(), error);
        let aside = if private_file::is_there(&self.present) {
            let suffix = format!(".replaced-at-{}", now.unix_seconds());
            Some(private_file::move_aside(&self.present, &suffix).map_err(moved)?)
        } else {
            None
        };
        private_file::rename_new(&self.next, &self.present)
            .and_then(|()| private_file::sync_folder_of(&self.present))
            .map_err(moved)?;
        Ok(aside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;
    use crate::rotate::PROBE;

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
        let files = KeyFiles::of(&path);
        let keys = |rotation, wrapped| files.keys(rotation, wrapped, &OsEntropy);
        assert!(matches!(keys(None, None), Err(FilesError::NoKey(_))));
        file::create(&path, &[1; 32]).unwrap();
        let secret = Keyring::open(&[1; 32]).wrap_secret(b"s", &OsEntropy);
        let secret = secret.unwrap();
        let other = Keyring::open(&[2; 32]).wrap_secret(b"s", &OsEntropy);
        let other = other.unwrap();
        let refused = keys(None, Some(&other));
        assert!(matches!(refused, Err(FilesError::OtherKey(_))));

        // Its new key is there before anything is changed, and stays the same one.
        let begun = keys(None, Some(&secret)).unwrap();
        let again = keys(None, Some(&secret)).unwrap();
        let mark = rotation(&begun.new);
        assert!(is_new_key(&again.new, &mark));
        let going_on = keys(Some(&mark), Some(&secret)).unwrap();
        assert!(is_new_key(&going_on.new, &mark) && going_on.former.is_some());

        // Between the two moves.
        let aside = private_file::move_aside(&path, ".replaced-at-7").unwrap();
        let between = keys(Some(&mark), None).unwrap();
        assert!(is_new_key(&between.new, &mark) && between.former.is_none());
        assert_eq!(files.replace(NOW).unwrap(), None);
        assert_eq!(file::read(&aside).unwrap().as_deref(), Some(&[1; 32]));
        let after = keys(Some(&mark), None).unwrap();
        assert!(is_new_key(&after.new, &mark) && after.former.is_none());
        // Once more, and nothing is moved.
        let new = file::read(&path).unwrap();
        assert_eq!(files.replace(NOW).unwrap(), None);
        assert_eq!(file::read(&path).unwrap(), new);
    }

    #[test]
    fn a_new_key_that_is_gone_is_never_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inlay.key");
        let files = KeyFiles::of(&path);
        file::create(&path, &[1; 32]).unwrap();
        let mark = rotation(&Keyring::open(&[9; 32]));
        let gone = files.keys(Some(&mark), None, &OsEntropy);
        assert!(matches!(gone, Err(FilesError::NewKeyMissing(..))));
        assert!(file::read(&files.next).unwrap().is_none());
    }
}
