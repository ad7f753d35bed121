//! The types of images that owners upload, and that pages and screens show.

use serde::Serialize;
use utoipa::ToSchema;

/// The types of images that every browser shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub enum ImageType {
    /// PNG, without loss, possibly transparent.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG, for photographs.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// WebP, lossy or lossless.
    #[serde(rename = "image/webp")]
    Webp,
    /// GIF, possibly animated.
    #[serde(rename = "image/gif")]
    Gif,
}

impl ImageType {
    const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Webp, Self::Gif];

    /// The media type, which is also the stored value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// The type named `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The type according to the first bytes of an image, whatever its name.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let riff = bytes.strip_prefix(b"RIFF").and_then(|rest| rest.get(4..));
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ if riff.is_some_and(|riff| riff.starts_with(b"WEBP")) => Some(Self::Webp),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_what_its_first_bytes_say() {
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some(ImageType::Png)),
            (b"\xff\xd8\xff\xe0....", Some(ImageType::Jpeg)),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(ImageType::Webp)),
            (b"GIF87a", Some(ImageType::Gif)),
            (b"GIF89a....", Some(ImageType::Gif)),
            (b"RIFF\x10\0\0\0WAVEfmt ", None),
            (b"RIFF", None),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", None),
            (b"", None),
        ] {
            assert_eq!(ImageType::of(bytes), kind, "{bytes:?}");
        }
        for kind in ImageType::ALL {
            assert_eq!(ImageType::from_name(kind.as_str()), Some(kind));
        }
    }
}
