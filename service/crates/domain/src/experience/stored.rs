//! Stored experiences: a draft that its owner edits, and published versions that never change.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::Content;
use crate::clock::Timestamp;
use crate::id::{ExperienceId, ImageId};
use crate::image_type::ImageType;
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
    /// How many tags lead to it, by themselves or by a group.
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
