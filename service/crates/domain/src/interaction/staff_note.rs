//! A note and a photo that staff added to a tap of their phone.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::field_error::FieldError;
use crate::image_type::ImageType;
use crate::text::text_fits;

/// Longest note, in characters: a screen of a phone, twice.
pub const NOTE_MAX: usize = 1_000;

/// A note with its photo. At least one of the two is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct StaffNote {
    /// When the note or the photo was last changed.
    pub at: Timestamp,
    /// Name of the phone that made the last change, as it was then.
    pub phone: String,
    /// The note; empty if there is only a photo.
    #[schema(max_length = 1000)]
    pub note: String,
    /// The photo, without its bytes.
    pub photo: Option<StaffPhoto>,
}

/// A photo of staff, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct StaffPhoto {
    /// Format of the stored bytes.
    #[serde(rename = "type")]
    pub media_type: ImageType,
    /// SHA-256 of the stored bytes, in hexadecimal. Another photo has another digest.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
}

impl StaffPhoto {
    /// The photo with these bytes.
    pub fn of(media_type: ImageType, bytes: &[u8]) -> Self {
        Self {
            media_type,
            digest: base16ct::lower::encode_string(&Sha256::digest(bytes)),
        }
    }
}

/// A change of a note and its photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteEdit {
    /// Name of the phone.
    pub phone: String,
    /// The new note; empty removes it.
    pub note: String,
    /// The change of the photo.
    pub photo: PhotoEdit,
}

/// A change of a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhotoEdit {
    /// The photo stays as it is.
    Keep,
    /// The photo is removed.
    Remove,
    /// This photo is stored in place of the former one.
    Set(ImageType, Vec<u8>),
}

impl NoteEdit {
    /// Checks the characters and the length of the note.
    ///
    /// # Errors
    ///
    /// A sentence for people, about the field `note`.
    pub fn validated(self) -> Result<Self, FieldError> {
        if text_fits(&self.note, NOTE_MAX) {
            return Ok(self);
        }
        let why = format!("A note has at most {NOTE_MAX} characters, and no NUL character.");
        Err(FieldError::of("note", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_at_most_a_thousand_characters() {
        let edit = |note: String| NoteEdit {
            phone: "Bench".to_owned(),
            note,
            photo: PhotoEdit::Keep,
        };
        assert!(edit(String::new()).validated().is_ok());
        assert!(edit("\u{e9}".repeat(NOTE_MAX)).validated().is_ok());
        let refused = edit("\u{e9}".repeat(NOTE_MAX + 1)).validated();
        assert_eq!(refused.unwrap_err().field.as_deref(), Some("note"));
        assert!(edit("a\0".to_owned()).validated().is_err());
    }
}
