//! Texts that owners write: their lengths, and the name of a thing.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use crate::field_error::OfField;

/// Longest name, in characters.
pub const NAME_MAX: usize = 200;
/// Longest title or description, in characters.
pub const TEXT_MAX: usize = 2_000;

/// Whether `text` has at most `max` characters and no NUL.
pub fn text_fits(text: &str, max: usize) -> bool {
    text.chars().count() <= max && !text.contains('\0')
}

/// The name that an owner gives something: 1 to 200 characters without NUL, and not only spaces.
/// Names need not be unique.
///
/// It has no `Deserialize`, because the error must say which thing needs the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

/// A text that is no [`Name`]. It contains the start of its sentence, as in `A token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} needs a name of 1 to {NAME_MAX} characters.")]
pub struct InvalidName(&'static str);

impl OfField for InvalidName {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some("name".into())
    }
}

impl Name {
    /// The name of `owner`, as in `A token`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`], a sentence about `owner`.
    pub fn new(owner: &'static str, text: impl Into<String>) -> Result<Self, InvalidName> {
        let text = text.into();
        Self::check(owner, &text)?;
        Ok(Self(text))
    }

    /// Checks that `text` can be the name of `owner`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`], a sentence about `owner`.
    pub fn check(owner: &'static str, text: &str) -> Result<(), InvalidName> {
        if text.trim().is_empty() || !text_fits(text, NAME_MAX) {
            return Err(InvalidName(owner));
        }
        Ok(())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}
