//! When a part of a page is shown.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::block::BlockProblem;
use crate::interaction::Verification;
use crate::tag::{PropertyKey, check_value};

/// Most languages of a condition.
pub(super) const LANGUAGES_MAX: usize = 50;

/// When the blocks of a condition are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum When {
    /// The tag's variable has this value.
    VariableEquals {
        /// Its key.
        variable: PropertyKey,
        /// The value.
        value: String,
    },
    /// The tag's variable has another value, or none.
    VariableDiffers {
        /// Its key.
        variable: PropertyKey,
        /// The value.
        value: String,
    },
    /// The tag's variable is empty, or the tag has none of this key.
    VariableEmpty {
        /// Its key.
        variable: PropertyKey,
    },
    /// The tag's variable is not empty.
    VariableFilled {
        /// Its key.
        variable: PropertyKey,
    },
    /// The tap came to one of these.
    Verification {
        /// The outcomes. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<Verification>,
    },
    /// The tag's scan count, this tap included, is within bounds. At least one is given.
    ScanCount {
        /// Lower bound, itself included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<u64>,
        /// Upper bound, itself included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<u64>,
    },
    /// The page is shown in one of these languages.
    Language {
        /// Language tags such as `de` or `pt-BR`. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<String>,
    },
}

impl When {
    /// Checks what the types alone do not.
    pub(super) fn check(&self) -> Result<(), BlockProblem> {
        match self {
            Self::VariableEquals { value, .. } | Self::VariableDiffers { value, .. } => {
                Ok(check_value(value)?)
            }
            Self::ScanCount { at_least, at_most } => match (at_least, at_most) {
                (None, None) => Err(BlockProblem::NothingToMeet),
                (Some(least), Some(most)) if least > most => Err(BlockProblem::NeverMet),
                _ => Ok(()),
            },
            Self::Verification { any_of } => some(any_of),
            Self::Language { any_of } => {
                some(any_of)?;
                if any_of.len() <= LANGUAGES_MAX && any_of.iter().all(|tag| is_language(tag)) {
                    Ok(())
                } else {
                    Err(BlockProblem::Language)
                }
            }
            Self::VariableEmpty { .. } | Self::VariableFilled { .. } => Ok(()),
        }
    }
}

fn some<T>(any_of: &[T]) -> Result<(), BlockProblem> {
    if any_of.is_empty() {
        return Err(BlockProblem::NothingToMeet);
    }
    Ok(())
}

/// Whether a text has the shape of a language tag (BCP 47).
fn is_language(tag: &str) -> bool {
    let subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let primary = tag.split('-').next().unwrap_or_default();
    (2..=35).contains(&tag.len())
        && (2..=8).contains(&primary.len())
        && primary.bytes().all(|b| b.is_ascii_alphabetic())
        && tag.split('-').all(subtag)
}
