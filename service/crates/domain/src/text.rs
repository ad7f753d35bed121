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

/// Whether `text` is a locale such as `en_US`: 2 to 35 letters, digits, `_` and `-`.
fn is_locale(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (2..=35).contains(&text.len()) && text.bytes().all(allowed)
}

/// Why the texts of a tag or of a group cannot be saved. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    /// The title or the description is too long, or holds a NUL character.
    #[error("{field} can have at most {TEXT_MAX} characters, and no NUL character.")]
    Text {
        /// Name of the member, as in the API.
        field: &'static str,
    },
    /// The language code is not a locale.
    #[error("language_code is a locale such as en_US.")]
    Language,
}

impl OfField for InvalidText {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::Text { field } => field,
            Self::Language => "language_code",
        };
        Some(field.into())
    }
}

impl InvalidText {
    /// Checks the texts for visitors, and their locale if there is one.
    ///
    /// # Errors
    ///
    /// [`InvalidText`], about the first text that is not valid.
    pub fn check(title: &str, description: &str, language: Option<&str>) -> Result<(), Self> {
        for (field, text) in [("title", title), ("description", description)] {
            if !text_fits(text, TEXT_MAX) {
                return Err(Self::Text { field });
            }
        }
        if language.is_some_and(|code| !is_locale(code)) {
            return Err(Self::Language);
        }
        Ok(())
    }
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

/// Implements `Deserialize` for a type that `parse` reads from a text, so that JSON is refused with
/// the sentence of `parse`.
macro_rules! read_by_parse {
    ($type:ty) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(::serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use read_by_parse;
