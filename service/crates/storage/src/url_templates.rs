//! URL templates in the database.

use super::Conflict;
use domain::inventory::{UrlTemplate, UrlTemplateFields};

/// An edit of a URL template, applied inside the operation that stores it. An `Err` stores nothing;
/// its message is a sentence for people.
pub type UrlTemplateEdit =
    Box<dyn Fn(&UrlTemplate) -> Result<UrlTemplateFields, Conflict> + Send + Sync>;
