//! The trailer of a backup, after the SQLite file: the length of its content and a checksum, sealed
//! if the backup contains the wrapping key. SQLite ignores the trailer.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::migrate::{OpenError, beside, starts_as_ours};
use crate::BackupSeal;
use domain::keyring::BackupKey;
use domain::private_file;

/// The first bytes of the trailer.
const MAGIC: &[u8; 16] = b"tapdesk backup 1";
/// Length of the head in bytes: magic, length of the content, whether it is sealed, the seal.
const HEAD: usize = 16 + 8 + 1 + 32;
/// Length of the trailer in bytes: head and checksum. SQLite's pages have at least 512 bytes, and
/// this is not a multiple of that. So the length of the file shows that it had a trailer, even if
/// the trailer is damaged.
const END: usize = HEAD + 32;
/// The size of SQLite's smallest page, in bytes.
const PAGE_MIN: u64 = 512;
/// How many bytes are read at once.
const PIECE: usize = 256 * 1024;

/// Appends the trailer to a backup.
pub(super) fn append(file: &mut File, key: Option<&BackupKey>) -> io::Result<()> {
    file.rewind()?;
    let (length, content) = copy_all(&mut *file, &mut io::sink())?;
    let mut end = Vec::with_capacity(END);
    end.extend(MAGIC);
    end.extend(length.to_be_bytes());
    end.push(u8::from(key.is_some()));
    end.extend(key.map_or([0; 32], |key| key.seal(&content)));
    end.extend(checksum(&content, &end));
    file.seek(SeekFrom::End(0))?;
    file.write_all(&end)
}

/// Copies the content of a backup, and checks it against the trailer. `None` for another copy of a
/// database, which has no trailer.
pub(super) fn copy(source: &Path, to: &mut impl Write) -> Result<Option<BackupSeal>, OpenError> {
    let io = |error| OpenError::Io(source.to_owned(), error);
    let mut file = File::open(source).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let end = read_end(&mut file, length).map_err(io)?;
    let content = length - end.map_or(0, |end| end.len() as u64);
    file.rewind().map_err(io)?;
    let (copied, digest) = copy_all(file.take(content), to).map_err(io)?;
    let Some(end) = end else {
        // After a crash, the file may end with half a page, while the log has the complete one.
        let has_log = private_file::is_there(&beside(source, "-wal"));
        if !length.is_multiple_of(PAGE_MIN) && !has_log && starts_as_ours(source).map_err(io)? {
            return Err(OpenError::Damaged(source.to_owned(), wrong(source, length)));
        }
        return Ok(None);
    };
    let (head, sum) = end.split_at(HEAD);
    let (of_length, seal) = head[MAGIC.len()..].split_at(8);
    let is_whole = of_length == copied.to_be_bytes();
    let seal = match seal.split_first() {
        Some((0, nothing)) if nothing == [0; 32] => Some(None),
        Some((1, seal)) => <[u8; 32]>::try_from(seal).ok().map(Some),
        _ => None,
    };
    match seal {
        Some(seal) if is_whole && sum == checksum(&digest, head) => {
            Ok(Some(BackupSeal { digest, seal }))
        }
        _ => {
            let what = if is_whole {
                OTHER_CONTENT.to_owned()
            } else {
                wrong(source, length)
            };
            Err(OpenError::Damaged(source.to_owned(), what))
        }
    }
}

/// Checks that the backup at `source` is unchanged. A file without a trailer is not a backup.
pub fn check_backup(source: &Path) -> Result<(), OpenError> {
    match copy(source, &mut io::sink())? {
        Some(_) => Ok(()),
        None if starts_as_ours(source).is_ok_and(|ours| ours) => Err(without_end(source)),
        None => Err(OpenError::Foreign(source.to_owned())),
    }
}

/// If the file at `path` has bytes after its last page: checks that it is an unchanged backup. A
/// database in use has no such bytes, and is not opened here, because that would take the locks of
/// this process from it.
pub(super) fn check_end(path: &Path) -> Result<(), OpenError> {
    let io = |error| OpenError::Io(path.to_owned(), error);
    if path.metadata().map_err(io)?.len().is_multiple_of(PAGE_MIN) {
        return Ok(());
    }
    copy(path, &mut io::sink()).map(drop)
}

/// The error for a backup that has lost its trailer.
pub(super) fn without_end(source: &Path) -> OpenError {
    let length = source.metadata().map_or(0, |metadata| metadata.len());
    OpenError::Damaged(source.to_owned(), wrong(source, length))
}

const OTHER_CONTENT: &str = "its checksum is not the one of its content";

/// The damage of a backup of this length, as far as the length in its first page shows it.
fn wrong(source: &Path, length: u64) -> String {
    let whole = length_by_header(source).ok().flatten();
    match whole {
        Some(whole) if whole > length => match whole - length {
            1 => "its last byte is missing".to_owned(),
            missing => format!("its last {missing} bytes are missing"),
        },
        Some(whole) if whole < length => match length - whole {
            1 => "1 byte was added to it".to_owned(),
            more => format!("{more} bytes were added to it"),
        },
        _ => OTHER_CONTENT.to_owned(),
    }
}

/// The length of a backup with this first page (SQLite file format, section 1.3).
fn length_by_header(source: &Path) -> io::Result<Option<u64>> {
    let mut header = Vec::new();
    File::open(source)?.take(32).read_to_end(&mut header)?;
    let Some((size, pages)) = header.get(16..18).zip(header.get(28..32)) else {
        return Ok(None);
    };
    let size = match u64::from(u16::from_be_bytes([size[0], size[1]])) {
        1 => 65_536,
        size => size,
    };
    let pages = u32::from_be_bytes([pages[0], pages[1], pages[2], pages[3]]);
    Ok(Some(size * u64::from(pages) + END as u64))
}

fn read_end(file: &mut File, length: u64) -> io::Result<Option<[u8; END]>> {
    let mut end = [0; END];
    if length < END as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - END as u64))?;
    file.read_exact(&mut end)?;
    Ok(end.starts_with(MAGIC).then_some(end))
}

/// The checksum over the digest of the content and the head of the trailer.
fn checksum(digest: &[u8; 32], head: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(digest)
        .chain_update(head)
        .finalize()
        .into()
}

/// Copies all bytes; returns their number and digest.
fn copy_all(mut from: impl io::Read, to: &mut impl Write) -> io::Result<(u64, [u8; 32])> {
    let (mut piece, mut length, mut digest) = (vec![0; PIECE], 0, Sha256::new());
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return Ok((length, digest.finalize().into()));
        }
        digest.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        length += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks like a database of one page of 512 bytes.
    fn content() -> Vec<u8> {
        let mut content = vec![7; 512];
        content[..16].copy_from_slice(b"SQLite format 3\0");
        content[16..18].copy_from_slice(&512_u16.to_be_bytes());
        content[28..32].copy_from_slice(&1_u32.to_be_bytes());
        let id = super::super::APPLICATION_ID;
        content[68..72].copy_from_slice(&id.to_be_bytes());
        content
    }

    fn backup(key: Option<&BackupKey>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.backup");
        std::fs::write(&path, content()).unwrap();
        let mut file = File::options().read(true).write(true).open(&path).unwrap();
        append(&mut file, key).unwrap();
        std::fs::read(path).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<(Option<BackupSeal>, Vec<u8>), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("read.backup");
        std::fs::write(&path, bytes).unwrap();
        let mut copied = Vec::new();
        let seal = copy(&path, &mut copied).map_err(|error| error.to_string())?;
        Ok((seal, copied))
    }

    #[test]
    fn no_flipped_bit_is_read_silently() {
        let key = BackupKey::of(&[1; 32]);
        for key in [None, Some(&key)] {
            let whole = backup(key);
            assert_eq!(read(&whole).unwrap().1, content());
            for bit in 0..whole.len() * 8 {
                let mut flipped = whole.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let said = read(&flipped).unwrap_err();
                assert!(said.contains("damaged"), "bit {bit}: {said}");
            }
        }
    }

    #[test]
    fn the_bytes_that_are_missing_or_too_many_are_counted() {
        let whole = backup(None);
        for (bytes, word) in [
            (whole[..whole.len() - 1].to_vec(), "its last byte is"),
            (whole[..550].to_vec(), "its last 51 bytes"),
            ([&whole[..], b"more"].concat(), "4 bytes were added"),
        ] {
            let said = read(&bytes).unwrap_err();
            assert!(said.contains(word), "{said}");
        }
        // Without its trailer, it looks like a copy of a database.
        assert!(read(&whole[..512]).unwrap().0.is_none());
    }

    #[test]
    fn a_seal_is_recognised_by_its_key_alone() {
        let (ours, other) = (BackupKey::of(&[1; 32]), BackupKey::of(&[2; 32]));
        let seal = |key| read(&backup(key)).unwrap().0.unwrap();
        assert!(seal(Some(&ours)).is_by(&ours));
        assert!(!seal(Some(&ours)).is_by(&other));
        assert!(!seal(None).is_by(&ours) && !seal(None).is_sealed());
    }
}
