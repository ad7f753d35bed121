//! Stored experiences: a draft that its owner edits, and published versions that never change.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::Content;
use crate::clock::Timestamp;
use crate::id::{ExperienceId, ImageId};
use crate::interaction::VersionRef;
use crate::text::{InvalidName, Name};

/// The writable members of an experience.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperienceFields {
    /// Its name. Need not be unique.
    pub name: Name,
    /// Draft that the owner edits.
    pub content: Content,
}

impl ExperienceFields {
    /// The writable members, from the text of a name.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if the text is no name.
    pub fn named(name: impl Into<String>, content: Content) -> Result<Self, InvalidName> {
        let name = Name::new("An experience", name)?;
        Ok(Self { name, content })
    }
}

/// An experience as the admin API shows it.
///
/// Its content is the draft. The published content is the version with the number
/// `published_version`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Experience {
    /// Identifier, used in the API.
    pub id: ExperienceId,
    /// Name; need not be unique.
    #[schema(value_type = String)]
    pub name: Name,
    /// Draft that the owner edits.
    #[serde(flatten)]
    pub content: Content,
    /// The version that taps get; `null` if none was published.
    pub published_version: Option<u32>,
    /// Whether the draft differs from the published version.
    pub draft: bool,
    /// How many tags are assigned to it.
    pub tags: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the name or the draft last changed, or a version was published.
    pub updated_at: Timestamp,
}

/// A published version of an experience. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Version {
    /// Its number: 1 for the first.
    pub version: u32,
    /// The experience's name at that time.
    pub name: String,
    /// Content as it was published.
    #[serde(flatten)]
    pub content: Content,
    /// When it was published.
    pub published_at: Timestamp,
}

/// An image of an experience, without its bytes. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Image {
    /// Its identifier, for the `image_id` of a block.
    pub id: ImageId,
    /// Format of the stored bytes.
    pub media_type: ImageType,
    /// Its size in bytes.
    pub size: u64,
    /// When it was added.
    pub created_at: Timestamp,
}

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

/// A published version of an experience.
#[derive(Clone, Debug)]
pub struct PublishedExperience {
    /// The experience and its version.
    pub version: VersionRef,
    /// Present name of the experience.
    pub name: String,
    /// Content of that version.
    pub content: Arc<Content>,
}
