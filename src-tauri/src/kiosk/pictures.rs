//! The pictures, videos and the logo of the attract page: copies in the folder of the kiosk, so that
//! they stay if the owner moves the original files.
//!
//! Pages load each picture by a URL of the scheme `tapdesk-picture:` when they show it. When twelve
//! photos of 12 MB were part of a command's result, the kiosk stayed white for half a minute.

use std::fs;
use std::path::Path;

use std::sync::Arc;

use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue};
use axum::http::{Request, Response, StatusCode};
use tapdesk_service::entropy::{self, Entropy};
use tapdesk_service::experience::ImageType;
use tapdesk_service::experience::picture::{self, PictureError};
use tauri::{AppHandle, Manager as _, Runtime, UriSchemeContext, UriSchemeResponder};

use super::{SharedKiosk, window};
use crate::origin::{MAIN, PAGE_ORIGIN};

/// The name of the scheme by which pages load pictures.
pub(crate) const SCHEME: &str = "tapdesk-picture";
/// Prefix of the pictures' URLs. On Windows a custom scheme is a host.
const BASE: &str = if cfg!(windows) {
    "http://tapdesk-picture.localhost/"
} else {
    "tapdesk-picture://localhost/"
};

/// Largest picture, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// Largest video, in bytes: the page keeps it in memory as a whole.
const LARGEST_VIDEO: usize = 64 * 1024 * 1024;
/// Most pictures and videos of the attract page.
const MOST: usize = 20;
/// Media types that are accepted, and their file extensions.
const ENDINGS: [(ImageType, &str); 4] = [
    (ImageType::Png, "png"),
    (ImageType::Jpeg, "jpg"),
    (ImageType::Gif, "gif"),
    (ImageType::Webp, "webp"),
];

/// Media types of videos, and their file extensions.
const VIDEOS: [(&str, &str); 2] = [("video/mp4", "mp4"), ("video/webm", "webm")];

/// Stores a copy of a picture or video next to `count` others, and returns its name. An `Err` is a
/// sentence for people.
pub(super) fn add(
    folder: &Path,
    bytes: &[u8],
    count: usize,
    entropy: &impl Entropy,
) -> Result<String, String> {
    // Here only so that a file that is one too many is not stored first. The list itself decides.
    has_room(count)?;
    if let Some(ending) = video_ending(bytes) {
        if bytes.len() > LARGEST_VIDEO {
            return Err("A video has at most 64 MiB.".to_owned());
        }
        return store(folder, bytes, ending, entropy);
    }
    add_logo(folder, bytes, entropy)
}

/// Lists a stored picture after the others. An `Err` is a sentence for people. Two that are added at
/// the same time are listed one after the other, so the second one finds the list full.
pub(super) fn list(pictures: &mut Vec<String>, name: String) -> Result<(), String> {
    has_room(pictures.len())?;
    pictures.push(name);
    Ok(())
}

fn has_room(count: usize) -> Result<(), String> {
    if count < MOST {
        Ok(())
    } else {
        Err(format!("The welcome page shows at most {MOST} pictures."))
    }
}

/// Stores a copy of a picture, and returns its name. An `Err` is a sentence for people.
pub(super) fn add_logo(
    folder: &Path,
    bytes: &[u8],
    entropy: &impl Entropy,
) -> Result<String, String> {
    if bytes.len() > LARGEST {
        return Err("A picture has at most 16 MiB.".to_owned());
    }
    // The check looks at the dimensions, too: the page decodes every pixel, even of a file of few
    // bytes.
    let media_type = picture::check(bytes).map_err(|error| match error {
        PictureError::UnknownType => {
            "The file is not a PNG, JPEG, GIF or WebP picture, or an MP4 or WebM video.".to_owned()
        }
        error => error.to_string(),
    })?;
    let ending = ENDINGS.iter().find(|(known, _)| *known == media_type);
    let (_, ending) = ending.ok_or("This type of picture is not supported.")?;
    store(folder, bytes, ending, entropy)
}

/// The file extension of a video by its first bytes: a box `ftyp` (ISO/IEC 14496-12, section 4.3)
/// or the header of EBML (RFC 8794, section 11.2.1). `None` for any other file.
fn video_ending(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(4..8) == Some(b"ftyp") {
        Some("mp4")
    } else if bytes.starts_with(b"\x1a\x45\xdf\xa3") {
        Some("webm")
    } else {
        None
    }
}

/// Writes a file of a new name, and returns the name.
fn store(
    folder: &Path,
    bytes: &[u8],
    ending: &str,
    entropy: &impl Entropy,
) -> Result<String, String> {
    let name = entropy::text(entropy, b"abcdefghijklmnopqrstuvwxyz0123456789", 12);
    let name = format!("{name}.{ending}");
    let refused = |error| format!("The file cannot be stored: {error}.");
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(folder.join(&name), bytes).map_err(refused)?;
    Ok(name)
}

/// Removes a picture. It is no error if the file is already gone.
pub(super) fn remove(folder: &Path, name: &str) {
    if is_name(name)
        && let Err(error) = fs::remove_file(folder.join(name))
    {
        tracing::warn!("the picture {name} cannot be removed: {error}");
    }
}

/// The URL of a picture for pages; `None` if its file is missing.
pub(super) fn address(folder: &Path, name: &str) -> Option<String> {
    let is_there = is_name(name) && folder.join(name).is_file();
    is_there.then(|| format!("{BASE}{name}"))
}

/// Answers a request for a picture. It is called on the thread of the user interface, so it only
/// forwards the work.
#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
pub(crate) fn handle<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let app: AppHandle<R> = context.app_handle().clone();
    let label = context.webview_label().to_owned();
    tauri::async_runtime::spawn_blocking(move || {
        let kiosk = Arc::clone(&app.state::<SharedKiosk>());
        let folder = kiosk.folders.kiosk.clone();
        responder.respond(answer(&label, request.uri().path(), &folder));
    });
}

/// The picture at `path` for the window `label`. The page of a visit may load none.
fn answer(label: &str, path: &str, folder: &Path) -> Response<Vec<u8>> {
    let found = [MAIN, window::LABEL]
        .contains(&label)
        .then(|| load(folder, path.trim_start_matches('/')))
        .flatten();
    let Some((media_type, bytes)) = found else {
        let mut missing = Response::new(Vec::new());
        *missing.status_mut() = StatusCode::NOT_FOUND;
        return missing;
    };
    let mut response = Response::new(bytes);
    let media_type = HeaderValue::from_static(media_type);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type);
    // The page fetches a video as a whole, because the player of WebKitGTK reads no other scheme.
    headers.insert(
        ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static(PAGE_ORIGIN),
    );
    response
}

/// A picture with its media type.
fn load(folder: &Path, name: &str) -> Option<(&'static str, Vec<u8>)> {
    let ending = name.rsplit('.').next()?;
    let pictures = ENDINGS.map(|(media_type, ending)| (media_type.as_str(), ending));
    let mut known = pictures.into_iter().chain(VIDEOS);
    let (media_type, _) = known.find(|(_, known)| *known == ending)?;
    let bytes = is_name(name).then(|| fs::read(folder.join(name)).ok())??;
    Some((media_type, bytes))
}

/// Whether a name has the form of our own names, and so cannot lead to another folder.
fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
        && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapdesk_service::entropy::OsEntropy;

    /// A GIF whose header gives `width` x `height` pixels.
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
        let folder = home.path().join("kiosk");
        let name = add(&folder, &gif(1, 1), 0, &OsEntropy).unwrap();
        assert_eq!(address(&folder, &name), Some(format!("{BASE}{name}")));
        for label in [MAIN, window::LABEL] {
            let shown = answer(label, &format!("/{name}"), &folder);
            assert_eq!(shown.headers()[CONTENT_TYPE], "image/gif");
            assert_eq!(*shown.body(), gif(1, 1));
        }
        let visitors = answer("visit", &format!("/{name}"), &folder);
        assert_eq!(visitors.status(), StatusCode::NOT_FOUND);
        remove(&folder, &name);
        assert_eq!(address(&folder, &name), None);
        let gone = answer(MAIN, &format!("/{name}"), &folder);
        assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn what_is_no_picture_or_one_too_many_is_refused() {
        let home = tempfile::tempdir().unwrap();
        assert!(add(home.path(), b"<svg onload=alert(1)>", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WAVE", 0, &OsEntropy).is_err());
        assert!(add(home.path(), b"RIFF\0\0\0\0WEBP", 0, &OsEntropy).is_err());
        assert!(add(home.path(), &gif(1, 1), MOST, &OsEntropy).is_err());
        for name in ["../tapdesk.db", "a/b.png", ".png", "x.db"] {
            fs::write(home.path().join("x.db"), "x").unwrap();
            assert_eq!(load(home.path(), name), None, "{name}");
        }
    }

    #[test]
    fn two_pictures_at_once_do_not_exceed_the_limit() {
        let home = tempfile::tempdir().unwrap();
        let mut listed: Vec<String> = (1..MOST).map(|number| format!("{number}.png")).collect();
        // Both are stored before one of them is listed.
        let names = [0; 2].map(|_| add(home.path(), &gif(1, 1), listed.len(), &OsEntropy).unwrap());
        let [first, second] = names;
        assert_eq!(list(&mut listed, first), Ok(()));
        let refused = list(&mut listed, second).unwrap_err();
        assert!(refused.contains("at most 20 pictures"), "{refused}");
        assert_eq!(listed.len(), MOST);
    }

    #[test]
    fn a_video_is_known_by_its_first_bytes_and_no_logo() {
        let home = tempfile::tempdir().unwrap();
        let mp4 = b"\0\0\0\x18ftypmp42\0\0\0\0";
        let name = add(home.path(), mp4, 0, &OsEntropy).unwrap();
        let shown = answer(window::LABEL, &format!("/{name}"), home.path());
        assert_eq!(shown.headers()[CONTENT_TYPE], "video/mp4");
        assert_eq!(shown.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], PAGE_ORIGIN);
        let webm = add(home.path(), b"\x1a\x45\xdf\xa3\x01", 0, &OsEntropy).unwrap();
        assert_eq!(webm.rsplit('.').next(), Some("webm"));
        assert!(add_logo(home.path(), mp4, &OsEntropy).is_err());
    }

    #[test]
    fn a_picture_of_more_than_40_million_pixels_is_refused_in_words() {
        let home = tempfile::tempdir().unwrap();
        let refused = add(home.path(), &gif(10_000, 9_000), 0, &OsEntropy).unwrap_err();
        assert!(refused.contains("10000 x 9000 pixels"), "{refused}");
        assert!(add(home.path(), &gif(8_000, 5_000), 0, &OsEntropy).is_ok());
    }
}
