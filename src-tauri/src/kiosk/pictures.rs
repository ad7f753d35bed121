//! The pictures of the attract page: copies in a folder of their own, so that
//! they stay when the owner moves the files they were made from.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tapdesk_service::entropy::{self, Entropy};

/// Largest picture, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// Most pictures.
const MOST: usize = 20;
/// What a file begins with, its ending, and its media type.
const KINDS: [(&[u8], &str, &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
    (b"RIFF", "webp", "image/webp"),
];

/// Where the pictures of the installation with this database are.
pub fn folder(database: &Path) -> PathBuf {
    database.with_file_name("kiosk")
}

/// Keeps a copy of a picture beside `count` others; answers its name. An `Err`
/// is a sentence for people.
pub fn add(
    folder: &Path,
    bytes: &[u8],
    count: usize,
    entropy: &impl Entropy,
) -> Result<String, String> {
    if count >= MOST {
        return Err(format!("The attract page shows at most {MOST} pictures."));
    }
    if bytes.len() > LARGEST {
        return Err("A picture has at most 16 MiB.".to_owned());
    }
    let kind = KINDS.iter().find(|(magic, ending, _)| {
        // Sounds and films are RIFF files, too.
        bytes.starts_with(magic) && (*ending != "webp" || bytes.get(8..12) == Some(b"WEBP"))
    });
    let (_, ending, _) =
        kind.ok_or("A picture is a PNG, JPEG, GIF or WebP file. This is none of them.")?;
    let name = entropy::text(entropy, b"abcdefghijklmnopqrstuvwxyz0123456789", 12);
    let name = format!("{name}.{ending}");
    let refused = |error| format!("The picture cannot be kept: {error}.");
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(folder.join(&name), bytes).map_err(refused)?;
    Ok(name)
}

/// Removes a picture. One that is gone already is no error.
pub fn remove(folder: &Path, name: &str) {
    if is_name(name)
        && let Err(error) = fs::remove_file(folder.join(name))
    {
        tracing::warn!("the picture {name} cannot be removed: {error}");
    }
}

/// A picture as the page shows it; `None` where it cannot be read.
pub fn data_url(folder: &Path, name: &str) -> Option<String> {
    let ending = name.rsplit('.').next()?;
    let (_, _, media) = KINDS.iter().find(|(_, known, _)| *known == ending)?;
    let bytes = is_name(name).then(|| fs::read(folder.join(name)).ok())??;
    Some(format!("data:{media};base64,{}", STANDARD.encode(bytes)))
}

/// Whether a name is one of ours, and so leads to no other folder.
fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
        && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapdesk_service::entropy::OsEntropy;

    #[test]
    fn pictures_are_kept_shown_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home.path().join("tapdesk.db"));
        let name = add(&folder, b"GIF89a", 0, &OsEntropy).unwrap();
        let url = data_url(&folder, &name).unwrap();
        assert_eq!(url, "data:image/gif;base64,R0lGODlh");
        remove(&folder, &name);
        assert_eq!(data_url(&folder, &name), None);
    }

    #[test]
    fn what_is_no_picture_or_one_too_many_is_refused() {
        let home = tempfile::tempdir().unwrap();
        assert!(add(home.path(), b"<svg onload=alert(1)>", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WAVE", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WEBP", 0, &OsEntropy).is_ok());
        assert!(add(home.path(), b"GIF89a", MOST, &OsEntropy).is_err());
        for name in ["../tapdesk.db", "a/b.png", ".png", "x.db"] {
            assert_eq!(data_url(home.path(), name), None);
        }
    }
}
