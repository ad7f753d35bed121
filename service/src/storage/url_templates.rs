//! URL templates.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::id::UrlTemplateId;
use crate::inventory::{UrlTemplate, UrlTemplateFields};
use crate::revision::Precondition;

/// An edit of a URL template, applied inside the operation that stores it. An `Err`
/// is a sentence for people, and nothing is stored.
pub type UrlTemplateEdit =
    Box<dyn Fn(&UrlTemplate) -> Result<UrlTemplateFields, Conflict> + Send + Sync>;

/// The operations on URL templates.
///
/// No URL can be of two of them: it would not be known whose code it has.
#[async_trait]
pub trait UrlTemplates: Send + Sync {
    /// Stores a new template.
    ///
    /// # Errors
    ///
    /// [`Conflict::TemplatesOverlap`], [`Conflict::TooManyTemplates`];
    /// [`Conflict::Missing`] for a master key.
    async fn insert_url_template(
        &self,
        template: UrlTemplateFields,
    ) -> Result<UrlTemplateId, StorageError>;

    /// A template.
    async fn url_template(&self, id: UrlTemplateId) -> Result<Option<UrlTemplate>, StorageError>;

    /// At most `limit` templates after the one with the id `after`, in the order of their ids.
    async fn url_templates(
        &self,
        after: Option<UrlTemplateId>,
        limit: usize,
    ) -> Result<Vec<UrlTemplate>, StorageError>;

    /// How many templates there are.
    async fn count_url_templates(&self) -> Result<u64, StorageError>;

    /// Applies `edit` to a template.
    ///
    /// # Errors
    ///
    /// What `edit` refuses, and those of [`Self::insert_url_template`];
    /// [`InUse::ByTemplateInlays`](super::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](super::InUse::ByEncodings), [`InUse::ByRun`](super::InUse::ByRun) and
    /// [`InUse::ByOrder`](super::InUse::ByOrder) if what decides a MAC would change while chips are
    /// written by it; and [`InUse::ByFoundInlays`](super::InUse::ByFoundInlays) if a key would go by
    /// which alone inlays are found.
    async fn edit_url_template(
        &self,
        id: UrlTemplateId,
        edit: UrlTemplateEdit,
    ) -> Result<Option<UrlTemplate>, StorageError>;

    /// Deletes a template that no chip is written by, if it is as `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`];
    /// [`InUse::ByTemplateInlays`](super::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](super::InUse::ByEncodings), [`InUse::ByRun`](super::InUse::ByRun),
    /// [`InUse::ByOrder`](super::InUse::ByOrder) and
    /// [`InUse::ByImport`](super::InUse::ByImport).
    async fn delete_url_template_if(
        &self,
        id: UrlTemplateId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;
}
