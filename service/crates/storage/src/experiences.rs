//! Experiences, their versions and their images.

use super::Conflict;
use domain::experience::{ExperienceFields, ExperienceKind};

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
