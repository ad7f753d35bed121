//! The code of a group: the SKU of a product, the lot of a batch.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::text::read_by_parse;

/// Longest code, in characters.
const CODE_MAX: usize = 64;

/// The code of a group: 1 to 64 characters without control characters, and without blanks at its
/// ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, min_length = 1, max_length = 64)]
pub struct Code(String);

/// A text that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A code has 1 to {CODE_MAX} characters, no control characters, and no blanks at its ends.")]
pub struct InvalidCode;

impl Code {
    /// Checks and parses a code.
    ///
    /// # Errors
    ///
    /// [`InvalidCode`], a sentence for people.
    pub fn parse(text: &str) -> Result<Self, InvalidCode> {
        let fits = (1..=CODE_MAX).contains(&text.chars().count());
        if fits && text.trim() == text && !text.contains(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidCode)
        }
    }

    /// The characters of the code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

read_by_parse!(Code);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_short_line_of_text() {
        let longest = "é".repeat(CODE_MAX);
        for code in ["GC-21", "L 03/b", "7", &longest] {
            assert_eq!(Code::parse(code).unwrap().as_str(), code);
        }
        for other in ["", " ", " a", "a\n", "a\tb", "a\0", &format!("{longest}x")] {
            assert_eq!(Code::parse(other), Err(InvalidCode), "{other:?}");
        }
    }
}
