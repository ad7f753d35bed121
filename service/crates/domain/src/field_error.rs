//! An error in a request: a sentence for people and, for programs, the field.

use std::borrow::Cow;
use std::fmt::Display;

use inlay::template::TemplateError;

/// An error in a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FieldError {
    /// The member of the body, or the parameter, as the request names it: `name`, `location.lat`,
    /// `blocks[2]` for the third block. `None` for the request as a whole.
    pub field: Option<Cow<'static, str>>,
    /// The error and the way out: a sentence for people.
    pub message: String,
}

impl FieldError {
    /// An error in `field`.
    pub fn of(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            message: message.into(),
        }
    }

    /// An error in a request as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self {
            field: None,
            message: message.into(),
        }
    }

    /// The same error, if the fields belong to the member `parent`.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        self.field = Some(match self.field {
            Some(field) => format!("{parent}.{field}").into(),
            None => parent.to_owned().into(),
        });
        self
    }
}

/// An error with a text that also knows which field of a request it is about.
pub trait OfField: Display {
    /// The field, in the form of [`FieldError::field`].
    fn field(&self) -> Option<Cow<'static, str>>;
}

// The impl is here, because `inlay` does not know this trait.
impl OfField for TemplateError {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some(Self::field(self).into())
    }
}

impl<E: OfField> From<E> for FieldError {
    fn from(error: E) -> Self {
        Self {
            field: error.field(),
            message: error.to_string(),
        }
    }
}
