//! The pictures of the attract page: copies in a folder of their own, so that
//! they stay when the owner moves the files they were made from.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tapdesk_service::entropy::{self, Entropy};
use tapdesk_service::experience::ImageType;
use tapdesk_service::experience::picture::{self, PictureError};

/// Largest picture, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// Most pictures.
const MOST: usize = 20;
/// How the files end.
const ENDINGS: [(ImageType, &str); 4] = [
    (ImageType::Png, "png"),
    (ImageType::Jpeg, "jpg"),
    (ImageType::Gif, "gif"),
    (ImageType::Webp, "webp"),
];

/// Where the pictures of the installation with this database are.
pub(super) fn folder(database: &Path) -> PathBuf {
    database.with_file_name("kiosk")
}

/// Keeps a copy of a picture beside `count` others; answers its name. An `Err`
/// is a sentence for people.
pub(super) fn add(
    folder: &Path,
    bytes: &[u8],
    count: usize,
    entropy: &impl Entropy,
) -> Result<String, String> {
    if count >= MOST {
        return Err(format!("The welcome page shows at most {MOST} pictures."));
    }
    if bytes.len() > LARGEST {
        return Err("A picture has at most 16 MiB.".to_owned());
    }
    // The page reads all of its pixels, however few bytes they are packed in.
    let media_type = picture::check(bytes).map_err(|error| match error {
        PictureError::UnknownType => "The file is not a PNG, JPEG, GIF or WebP picture.".to_owned(),
        error => error.to_string(),
    })?;
    let ending = ENDINGS.iter().find(|(known, _)| *known == media_type);
    let (_, ending) = ending.ok_or("This type of picture is not supported.")?;
    let name = entropy::text(entropy, b"abcdefghijklmnopqrstuvwxyz0123456789", 12);
    let name = format!("{name}.{ending}");
    let refused = |error| format!("The picture cannot be stored: {error}.");
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(folder.join(&name), bytes).map_err(refused)?;
    Ok(name)
}

/// Removes a picture. One that is gone already is no error.
pub(super) fn remove(folder: &Path, name: &str) {
    if is_name(name)
        && let Err(error) = fs::remove_file(folder.join(name))
    {
        tracing::warn!("the picture {name} cannot be removed: {error}");
    }
}

/// A picture as the page shows it; `None` if it cannot be read.
pub(super) fn data_url(folder: &Path, name: &str) -> Option<String> {
    let ending = name.rsplit('.').next()?;
    let (media_type, _) = ENDINGS.iter().find(|(_, known)| *known == ending)?;
    let media = media_type.as_str();
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

    /// A GIF of `width` x `height` pixels, as its head says.
    fn gif(width: u16, height: u16) -> Vec<u8> {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        bytes.extend(b"\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
        bytes
    }

    #[test]
    fn pictures_are_kept_shown_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home.path().join("tapdesk.db"));
        let name = add(&folder, &gif(1, 1), 0, &OsEntropy).unwrap();
        let url = data_url(&folder, &name).unwrap();
        let expected = STANDARD.encode(gif(1, 1));
        assert_eq!(url, format!("data:image/gif;base64,{expected}"));
        remove(&folder, &name);
        assert_eq!(data_url(&folder, &name), None);
    }

    #[test]
    fn what_is_no_picture_or_one_too_many_is_refused() {
        let home = tempfile::tempdir().unwrap();
        assert!(add(home.path(), b"<svg onload=alert(1)>", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WAVE", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WEBP", 0, &OsEntropy).is_err());
        assert!(add(home.path(), &gif(1, 1), MOST, &OsEntropy).is_err());
        for name in ["../tapdesk.db", "a/b.png", ".png", "x.db"] {
            assert_eq!(data_url(home.path(), name), None);
        }
    }

    #[test]
    fn a_picture_of_more_than_40_million_pixels_is_refused_in_words() {
        let home = tempfile::tempdir().unwrap();
        let refused = add(home.path(), &gif(10_000, 9_000), 0, &OsEntropy).unwrap_err();
        assert!(refused.contains("10000 x 9000 pixels"), "{refused}");
        assert!(add(home.path(), &gif(8_000, 5_000), 0, &OsEntropy).is_ok());
    }
}
