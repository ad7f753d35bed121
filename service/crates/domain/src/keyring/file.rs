//! The wrapping key in a file: 64 hexadecimal digits, readable only by its owner.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::private_file;

/// Why the key file cannot be used. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// A file system error.
    #[error("{file} cannot be used: {error}.", file = .0.display(), error = .1)]
    Io(PathBuf, std::io::Error),
    /// The content is not a key.
    #[error("{} is not a key file: it holds 64 hexadecimal digits.", .0.display())]
    Malformed(PathBuf),
}

/// The key in `file`; `None` if there is no file.
pub fn read(file: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, KeyFileError> {
    match std::fs::read_to_string(file).map(Zeroizing::new) {
        Ok(text) => parse_hex(text.trim())
            .map(Some)
            .ok_or_else(|| KeyFileError::Malformed(file.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(KeyFileError::Malformed(file.to_owned()))
        }
        Err(error) => Err(KeyFileError::Io(file.to_owned(), error)),
    }
}

/// Writes `key` into a new file of mode 0600. Fails if one exists.
pub fn create(file: &Path, key: &[u8; 32]) -> Result<(), KeyFileError> {
    let text = Zeroizing::new(base16ct::lower::encode_string(key));
    private_file::create(file, text.as_bytes())
        .map_err(|error| KeyFileError::Io(file.to_owned(), error))
}

fn parse_hex(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    let length = base16ct::mixed::decode(text, &mut *key).ok()?.len();
    (length == key.len()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_anything_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("inlay.key");
        assert!(read(&file).unwrap().is_none());
        create(&file, &[0xa5; 32]).unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some(&[0xa5; 32]));
        assert!(matches!(create(&file, &[1; 32]), Err(KeyFileError::Io(..))));
        for content in ["", "a5", &"+5".repeat(32), &"zz".repeat(32)] {
            std::fs::write(&file, content).unwrap();
            assert!(
                matches!(read(&file), Err(KeyFileError::Malformed(_))),
                "{content}"
            );
        }
    }
}
