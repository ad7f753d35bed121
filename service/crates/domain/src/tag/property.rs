//! Keys and values on a tag, in three classes.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::field_error::OfField;
use crate::revision::{Revised, Revision};
use crate::text::read_by_parse;

/// The class of a property. Only variables can be changed from outside
/// (specification, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyClass {
    /// Fixed value, as `tag:attribute:KEY`.
    Attribute,
    /// Fixed value of a separate class, as `tag:data:KEY`.
    Data,
    /// Value that visitors may change, as `tag:variable:KEY`.
    Variable,
}

impl PropertyClass {
    /// All classes, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Attribute, Self::Data, Self::Variable];

    /// The name in macros and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attribute => "attribute",
            Self::Data => "data",
            Self::Variable => "variable",
        }
    }

    /// The class with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

/// Longest value, in bytes of UTF-8.
pub const VALUE_MAX: usize = 4 * 1024;
/// Most properties of one class on one tag.
pub const PROPERTIES_MAX: usize = 256;

/// A property's key: `[A-Za-z0-9_.-]{1,64}`, case sensitive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, pattern = "^[A-Za-z0-9_.-]{1,64}$")]
pub struct PropertyKey(String);

impl PropertyKey {
    /// Checks and parses a key.
    pub fn parse(text: &str) -> Result<Self, InvalidProperty> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidProperty::Key)
        }
    }

    /// Characters of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for PropertyKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PropertyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

read_by_parse!(PropertyKey);

/// Why a property cannot be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProperty {
    /// The key has other characters, or too many.
    #[error("A key has 1 to 64 characters of A-Z, a-z, 0-9, _, . and -.")]
    Key,
    /// The value is too long.
    #[error("A value has at most {VALUE_MAX} bytes.")]
    TooLong,
    /// The value holds a NUL character.
    #[error("A value is text without NUL characters.")]
    Nul,
    /// Too many keys in one class.
    #[error("A tag can have at most {PROPERTIES_MAX} keys of one class.")]
    TooMany,
}

/// The field of a request about a single property.
impl OfField for InvalidProperty {
    fn field(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Key => Some("key".into()),
            Self::TooLong | Self::Nul => Some("value".into()),
            Self::TooMany => None,
        }
    }
}

/// Checks a value: any text without NUL, line breaks included, of at most [`VALUE_MAX`] bytes.
pub fn check_value(value: &str) -> Result<(), InvalidProperty> {
    if value.contains('\0') {
        Err(InvalidProperty::Nul)
    } else if value.len() > VALUE_MAX {
        Err(InvalidProperty::TooLong)
    } else {
        Ok(())
    }
}

/// The schema of a value. A character has one byte or more.
pub fn value_schema() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(VALUE_MAX))
        .pattern(Some(r"^[^\x00]*$"))
}

impl PartialSchema for Properties {
    fn schema() -> RefOr<Schema> {
        let key = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some("^[A-Za-z0-9_.-]{1,64}$"));
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("The properties of one class."))
            .property_names(Some(key))
            .additional_properties(Some(Schema::from(value_schema())))
            .max_properties(Some(PROPERTIES_MAX))
            .into()
    }
}

impl ToSchema for Properties {}

/// The value of a property: the only part that can be edited.
#[derive(Clone, Copy, Debug)]
pub struct PropertyValue<'a>(pub &'a str);

impl Revised for PropertyValue<'_> {
    fn revision(&self) -> Revision {
        Revision::of(&self.0)
    }
}

/// The properties of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Properties(pub BTreeMap<PropertyKey, String>);

impl Properties {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Checks every value, and the number of values. Keys were checked when they were parsed.
    pub fn validate(&self) -> Result<(), InvalidProperty> {
        if self.0.len() > PROPERTIES_MAX {
            return Err(InvalidProperty::TooMany);
        }
        self.0.values().try_for_each(|value| check_value(value))
    }
}
