//! Experiences, their versions and their images.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::experience::{Experience, ExperienceFields, ExperienceKind, Image, ImageType, Version};
use crate::id::{ExperienceId, ImageId};
use crate::revision::Precondition;

/// An edit of an experience's name and draft, applied inside the operation that
/// stores them. An `Err` stores nothing.
pub type ExperienceEdit =
    Box<dyn Fn(ExperienceFields) -> Result<ExperienceFields, Conflict> + Send + Sync>;

/// Which experiences a list is of: those that fit all that is given.
#[derive(Clone, Debug, Default)]
pub struct ExperienceFilter {
    /// Those with this text in their name, in letters of either case.
    pub name_contains: Option<String>,
    /// Those of this kind.
    pub kind: Option<ExperienceKind>,
}

/// The operations on experiences.
///
/// A version never changes and is never removed: a repeated answer is made from
/// the version of its tap. What is published already is not published again as
/// a new version. Drafts and what is published show only images that exist.
#[async_trait]
pub trait Experiences: Send + Sync {
    /// Stores a new experience; with `publish` as version 1.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for an image that the experience does not have.
    async fn insert_experience(
        &self,
        experience: ExperienceFields,
        publish: bool,
    ) -> Result<Experience, StorageError>;

    /// An experience.
    async fn experience(&self, id: ExperienceId) -> Result<Option<Experience>, StorageError>;

    /// At most `limit` experiences that `filter` lets through, after the one
    /// with the id `after`, in the order of their ids.
    async fn experiences(
        &self,
        filter: ExperienceFilter,
        after: Option<ExperienceId>,
        limit: usize,
    ) -> Result<Vec<Experience>, StorageError>;

    /// How many experiences `filter` lets through.
    async fn count_experiences(&self, filter: ExperienceFilter) -> Result<u64, StorageError>;

    /// Applies `edit` to an experience, and with `publish` publishes what comes of it.
    ///
    /// # Errors
    ///
    /// What `edit` refuses; [`Conflict::Invalid`] for another kind; [`Conflict::Missing`] for an image
    /// that the experience does not have.
    async fn edit_experience(
        &self,
        id: ExperienceId,
        edit: ExperienceEdit,
        publish: bool,
    ) -> Result<Option<Experience>, StorageError>;

    /// Publishes the content of an earlier version. The draft follows, unless
    /// it has changes that were never published: those are kept.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for the version, or an image of it that is deleted.
    async fn roll_back_experience(
        &self,
        id: ExperienceId,
        version: u32,
    ) -> Result<Option<Experience>, StorageError> {
        self.roll_back_experience_if(id, version, Precondition::None)
            .await
    }

    /// The same, if the experience is as `expected`: else [`Conflict::Changed`].
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

    /// The same, if it is as `expected`.
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

    /// At most `limit` versions of an experience, those before `before` where
    /// it is given, the newest first.
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

    /// At most `limit` images of an experience, after the one with the id
    /// `after`, in the order of their ids.
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

    /// Deletes an image that neither the draft nor what is published shows.
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
