//! URL templates in the database.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::id::UrlTemplateId;
use domain::inventory::{UrlTemplate, UrlTemplateFields};
use domain::revision::Precondition;

/// An edit of a URL template, applied inside the operation that stores it. An `Err` stores nothing;
/// its message is a sentence for people.
pub type UrlTemplateEdit =
    Box<dyn Fn(&UrlTemplate) -> Result<UrlTemplateFields, Conflict> + Send + Sync>;

/// The operations on URL templates.
///
/// No URL may match two templates, because then neither would decide whose code the URL contains.
#[async_trait]
pub trait UrlTemplates: Send + Sync {
    /// Stores a new template.
    ///
    /// # Errors
    ///
    /// [`Conflict::TemplatesOverlap`], [`Conflict::TooManyTemplates`]; [`Conflict::Missing`] for a
    /// master key.
    async fn insert_url_template(
        &self,
        template: UrlTemplateFields,
    ) -> Result<UrlTemplate, StorageError>;

    /// The template with this id.
    async fn url_template(&self, id: UrlTemplateId) -> Result<Option<UrlTemplate>, StorageError>;

    /// At most `limit` templates after the one with the id `after`, ordered by id.
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
    /// The error of `edit`, and those of [`Self::insert_url_template`].
    /// [`InUse::ByTemplateInlays`](super::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](super::InUse::ByEncodings), [`InUse::ByRun`](super::InUse::ByRun) and
    /// [`InUse::ByOrder`](super::InUse::ByOrder) if the edit would change a MAC while chips are
    /// written with the template. [`InUse::ByFoundInlays`](super::InUse::ByFoundInlays) if it would
    /// remove a key that is the only way to identify inlays.
    async fn edit_url_template(
        &self,
        id: UrlTemplateId,
        edit: UrlTemplateEdit,
    ) -> Result<Option<UrlTemplate>, StorageError>;

    /// Deletes a template that no chip uses, if it still matches `expected`.
    ///
    /// # Errors
    ///
    /// [`Conflict::Changed`]; [`InUse::ByTemplateInlays`](super::InUse::ByTemplateInlays),
    /// [`InUse::ByEncodings`](super::InUse::ByEncodings), [`InUse::ByRun`](super::InUse::ByRun),
    /// [`InUse::ByOrder`](super::InUse::ByOrder) and [`InUse::ByImport`](super::InUse::ByImport).
    async fn delete_url_template_if(
        &self,
        id: UrlTemplateId,
        expected: Precondition,
    ) -> Result<Option<()>, StorageError>;
}
