//! Tags and their properties.

use async_trait::async_trait;

use super::StorageError;
use crate::id::TagId;
use crate::tag::{PropertyClass, PropertyKey, Tag, TagFields};

/// An edit of a tag, applied inside the operation that stores it. An `Err` is a
/// sentence for people, and nothing is stored.
pub type TagEdit = Box<dyn Fn(TagFields) -> Result<TagFields, String> + Send + Sync>;

/// The operations on tags.
#[async_trait]
pub trait Tags: Send + Sync {
    /// Stores new tags, whose slugs are not empty. A tag that breaks a rule is
    /// refused alone; the results stand in the order of `tags`.
    async fn insert_tags(
        &self,
        tags: Vec<TagFields>,
        simulated: bool,
    ) -> Result<Vec<Result<TagId, super::Conflict>>, StorageError>;

    /// A tag with everything known about it.
    async fn tag(&self, id: TagId) -> Result<Option<Tag>, StorageError>;

    /// Applies `edit` to a tag.
    async fn edit_tag(&self, id: TagId, edit: TagEdit) -> Result<Option<Tag>, StorageError>;

    /// Sets a property. `None` where the tag does not exist.
    async fn put_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
        value: String,
    ) -> Result<Option<()>, StorageError>;

    /// Removes a property. `None` where tag or key does not exist.
    async fn delete_property(
        &self,
        tag: TagId,
        class: PropertyClass,
        key: PropertyKey,
    ) -> Result<Option<()>, StorageError>;
}
