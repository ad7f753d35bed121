//! The last part of a tag's URL: `{tag_url}/{slug}`.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use utoipa::ToSchema;

use crate::entropy::{self, Entropy};
use crate::text::read_by_parse;
use inlay::slug::is_slug;

/// A tag's slug: 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`, kept as given; unique among tags. It
/// is neither `.` nor `..`, nor the first segment of a path of the service, such as `admin`.
///
/// The default is empty, and is replaced by a generated one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(
    value_type = String, min_length = 1, max_length = 64,
    pattern = r"^(\.{3,}|[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)$"
)]
pub struct Slug(String);

/// Why a text is not a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSlug {
    /// It has another length or other characters.
    #[error(
        "A slug has 1 to 64 characters of A-Z, a-z, 0-9, ., _, ~ and -, and is neither . nor .."
    )]
    Form,
    /// It is the first segment of a path of the service, in either case.
    #[error(
        "The slug cannot be \"{0}\": at the root of a host this path belongs to the service. Choose another slug."
    )]
    Reserved(&'static str),
}

/// The first segments of the service's own paths, now or as they are planned. A URL template may
/// begin with `{slug}`, and the service answers its own paths first.
pub const RESERVED: [&str; 16] = [
    "t",
    "v2",
    "admin",
    "docs",
    "llms.txt",
    "media",
    "health",
    "ready",
    "metrics",
    "openapi.json",
    "kit",
    "stand-in",
    "staff",
    ".well-known",
    "favicon.ico",
    "robots.txt",
];

/// Characters of a generated slug.
const GENERATED: usize = 10;
/// A shorter slug can be guessed. Seven characters of base 36 are 78 billion slugs, which a program
/// tries in some weeks.
const UNGUESSABLE: usize = 8;
const ALPHABET: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

impl Slug {
    /// Checks a slug chosen by an owner.
    pub fn parse(text: &str) -> Result<Self, InvalidSlug> {
        if !is_slug(text) {
            return Err(InvalidSlug::Form);
        }
        let mut reserved = RESERVED.into_iter();
        match reserved.find(|word| word.eq_ignore_ascii_case(text)) {
            Some(word) => Err(InvalidSlug::Reserved(word)),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Ten random characters of base 36, about 52 bits. They must be hard to guess, because every
    /// visit of a valid slug yields a key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(entropy::text(entropy, ALPHABET, GENERATED))
    }

    /// This slug, or a generated one if it is empty.
    #[must_use]
    pub fn or_generate(self, entropy: &dyn Entropy) -> Self {
        if self.0.is_empty() {
            Self::generate(entropy)
        } else {
            self
        }
    }

    /// A warning for the owner, if the slug is short enough to be guessed.
    pub fn warning(&self) -> Option<&'static str> {
        let is_guessable = self.0.len() < UNGUESSABLE;
        is_guessable.then_some(
            "A slug shorter than 8 characters can be guessed, and each visit to it issues a rolling key.",
        )
    }

    /// Slug as it is in the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Slug {
    type Err = InvalidSlug;

    fn from_str(text: &str) -> Result<Self, InvalidSlug> {
        Self::parse(text)
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

read_by_parse!(Slug);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;

    #[test]
    fn a_slug_has_1_to_64_of_its_characters() {
        for good in [
            "1",
            "1042",
            "eeeee",
            "AbC123xy",
            "abc_123",
            "k3v9qa",
            "a.b~c-d",
            "...",
            &"z".repeat(64),
        ] {
            assert_eq!(Slug::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            ".",
            "..",
            &"z".repeat(65),
            &"z".repeat(10_000),
            "with space",
            "käse-käse",
            // A Cyrillic a.
            "b\u{430}ttle",
            "a/b",
            "a%41",
            "a&b",
            "!check",
        ] {
            assert_eq!(Slug::parse(bad), Err(InvalidSlug::Form), "{bad}");
        }
    }

    #[test]
    fn a_path_of_the_service_is_no_slug_in_either_case() {
        for word in RESERVED {
            let refused = Err(InvalidSlug::Reserved(word));
            assert_eq!(Slug::parse(word), refused);
            assert_eq!(Slug::parse(&word.to_uppercase()), refused);
            assert!(Slug::parse(&format!("{word}1")).is_ok());
        }
    }

    #[test]
    fn a_generated_slug_is_one_an_owner_could_have_chosen() {
        let slug = Slug::generate(&OsEntropy);
        assert_eq!(Slug::parse(slug.as_str()), Ok(slug.clone()));
        assert_eq!(slug.warning(), None);
        assert!(Slug::parse("1234567").unwrap().warning().is_some());
        assert_eq!(Slug::parse("12345678").unwrap().warning(), None);
    }
}
