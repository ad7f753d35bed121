//! Words that stand for the variants of an enum, in the API and in storage.

/// A word that no variant has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {}", .expected.join(" or "))]
pub struct UnknownWord {
    pub(super) expected: Vec<&'static str>,
}

/// `Display` and `FromStr` through `as_str` and `ALL`.
macro_rules! word {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|word| word.as_str() == text);
                found.ok_or_else(|| $crate::UnknownWord {
                    expected: Self::ALL.map(Self::as_str).to_vec(),
                })
            }
        }
    };
}

pub(super) use word;
