//! The last part of a tag's URL: `{tag_url}/{slug}`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::entropy::{self, Entropy};

/// A tag's slug: 6 to 32 characters of `a-z 0-9 -`; unique among tags.
///
/// The default is empty, and is replaced by a generated one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, pattern = "^[a-z0-9-]{6,32}$")]
pub struct Slug(String);

/// The text is not a valid slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A slug has 6 to 32 characters of a-z, 0-9 and -.")]
pub struct InvalidSlug;

const GENERATED: usize = 10;
const ALPHABET: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

impl Slug {
    /// Checks a slug chosen by an owner.
    pub fn parse(text: &str) -> Result<Self, InvalidSlug> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if (6..=32).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSlug)
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

    /// Whether the slug is short enough to be guessed; owners are warned.
    pub fn is_guessable(&self) -> bool {
        self.0.len() < GENERATED
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

impl<'de> Deserialize<'de> for Slug {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;

    #[test]
    fn a_slug_has_6_to_32_of_its_characters() {
        for good in ["k3v9qa", "a-b-c-d", &"z".repeat(32)] {
            assert!(Slug::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "short",
            &"z".repeat(33),
            "Upper-case",
            "with space",
            "käse-käse",
            "a/b/c/d",
        ] {
            assert_eq!(Slug::parse(bad), Err(InvalidSlug), "{bad}");
        }
    }

    #[test]
    fn a_generated_slug_is_one_an_owner_could_have_chosen() {
        let slug = Slug::generate(&OsEntropy);
        assert_eq!(Slug::parse(slug.as_str()), Ok(slug.clone()));
        assert!(!slug.is_guessable());
    }
}
