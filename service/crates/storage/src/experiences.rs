//! Experiences, their versions and their images.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::experience::{Experience, ExperienceFields, ExperienceKind, Image, ImageType, Version};
use domain::id::{ExperienceId, ImageId};
use domain::revision::Precondition;

/// An edit of an experience's name and draft, applied inside the operation that
/// stores them. An `Err` stores nothing.
pub type ExperienceEdit =
    Box<dyn Fn(ExperienceFields) -> Result<ExperienceFields, Conflict> + Send + Sync>;

/// Selects experiences for a list; an experience must match every given member.
#[derive(Clone, Debug, Default)]
pub struct ExperienceFilter {
    /// Experiences with this text in their name, ignoring case.
    pub name_contains: Option<String>,
    /// Experiences of this kind.
    pub kind: Option<ExperienceKind>,
}

/// The operations on experiences.
///
/// A version never changes and is never removed, because a repeated answer is made from the version
/// of its tap. Publishing unchanged content creates no new version. Drafts and published versions
/// show only images that exist.
#[async_trait]
pub trait Experiences: Send + Sync {
    /// Stores a new experience; with `publish`, also publishes it as version 1.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for an image that the experience does not have.
    async fn insert_experience(
        &self,
        experience: ExperienceFields,
        publish: bool,
    ) -> Result<Experience, StorageError>;

    /// The experience with this id.
    async fn experience(&self, id: ExperienceId) -> Result<Option<Experience>, StorageError>;

    /// At most `limit` experiences that match `filter`, after the one with the id `after`, ordered
    /// by id.
    async fn experiences(
        &self,
        filter: ExperienceFilter,
        after: Option<ExperienceId>,
        limit: usize,
    ) -> Result<Vec<Experience>, StorageError>;

    /// How many experiences match `filter`.
    async fn count_experiences(&self, filter: ExperienceFilter) -> Result<u64, StorageError>;

    /// Applies `edit` to an experience; with `publish`, also publishes the result.
    ///
    /// # Errors
    ///
    /// The error of `edit`; [`Conflict::Invalid`] for another kind; [`Conflict::Missing`] for an
    /// image that the experience does not have.
    async fn edit_experience(
        &self,
        id: ExperienceId,
        edit: ExperienceEdit,
        publish: bool,
    ) -> Result<Option<Experience>, StorageError>;

    /// Publishes the content of an earlier version again. The draft becomes the same, unless it has
    /// unpublished changes: those are kept.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the version, or for an image of it that is deleted.
    async fn roll_back_experience(
        &self,
        id: ExperienceId,
        version: u32,
    ) -> Result<Option<Experience>, StorageError> {
        self.roll_back_experience_if(id, version, Precondition::None)
            .await
    }

    /// Like [`Self::roll_back_experience`], but only if the experience still matches `expected`:
    /// otherwise [`Conflict::Changed`].
    async fn roll_back_experience_if(
        &self,
        id: ExperienceId,
        version: u32,
        expected: Precondition,
    ) -> Result<Option<Experience>, StorageError>;

    /// Deletes an experience that no tag leads to. Its versions are kept.
    async fn delete_experience(&self, id: ExperienceId) -> Result<Option<()>, StorageError> {
        self.delete_experience_if(id, Precondition::None).await
    }

    /// Like [`Self::delete_experience`], but only if the experience still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`InUse::ByTags`](super::InUse::ByTags) and
    /// [`InUse::ByImport`](super::InUse::ByImport).
    async fn delete_experience_if(
        &self,
        id: ExperienceId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;

    /// At most `limit` versions of an experience, the newest first. With `before`, only versions
    /// before that one.
    async fn versions(
        &self,
        id: ExperienceId,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<Version>>, StorageError>;

    /// Adds an image to an experience.
    async fn insert_image(
        &self,
        id: ExperienceId,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<Option<Image>, StorageError>;

    /// At most `limit` images of an experience, after the one with the id `after`, ordered by id.
    async fn images(
        &self,
        id: ExperienceId,
        after: Option<ImageId>,
        limit: usize,
    ) -> Result<Option<Vec<Image>>, StorageError>;

    /// An image of an experience, and its bytes.
    async fn image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<(ImageType, Vec<u8>)>, StorageError>;

    /// Deletes an image that neither the draft nor the published version shows.
    ///
    /// # Errors
    ///
    /// [`InUse::Shown`](super::InUse::Shown).
    async fn delete_image(
        &self,
        id: ExperienceId,
        image: ImageId,
    ) -> Result<Option<()>, StorageError>;
}
