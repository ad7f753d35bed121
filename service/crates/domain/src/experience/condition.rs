//! The conditions under which a part of a page is shown, or a rule of a redirect applies.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::block::BlockProblem;
use crate::clock::Timestamp;
use crate::group::Lineage;
use crate::id::GroupId;
use crate::interaction::{CounterMove, Tech, VISITOR_GROUPS, VerificationState};
use crate::schema::text_schema;
use crate::strict_json;
use crate::tag::{Properties, PropertyKey, check_value};
use crate::visitor::{OperatingSystem, is_within};
use inlay::assessment::Tamper;

/// Most languages of a condition.
pub(super) const LANGUAGES_MAX: usize = 50;
/// Most countries of a condition. There are fewer countries than that.
pub(super) const COUNTRIES_MAX: usize = 300;

/// Most groups of a condition: more than anybody chooses from a tree.
const GROUPS_MAX: usize = 50;

strict_json::tagged_by_name!(When, "type");

/// A condition on the tag's state, on the tap, or on the visitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    deny_unknown_fields,
    remote = "Self"
)]
pub enum When {
    /// The tag's variable has this value.
    VariableEquals {
        /// Key of the variable.
        variable: PropertyKey,
        /// Value to compare with.
        #[schema(max_length = 4096)]
        value: String,
    },
    /// The tag's variable has another value, or the tag does not have the variable.
    VariableDiffers {
        /// Key of the variable.
        variable: PropertyKey,
        /// Value to compare with.
        #[schema(max_length = 4096)]
        value: String,
    },
    /// The tag's variable is empty, or the tag does not have the variable.
    VariableEmpty {
        /// Key of the variable.
        variable: PropertyKey,
    },
    /// The tag's variable is not empty.
    VariableFilled {
        /// Key of the variable.
        variable: PropertyKey,
    },
    /// The tap has one of these verdicts.
    Verification {
        /// The verdicts. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<VerificationState>,
    },
    /// The counter in the tap's URL moved in one of these ways. If the chip makes no MAC, anyone
    /// may have written the counter.
    Counter {
        /// The moves. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<CounterMove>,
    },
    /// The tamper loop of the tap's inlay is in one of these states. An inlay without a loop
    /// matches no state.
    Tamper {
        /// The states. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<Tamper>,
    },
    /// The tag's scan count, including this tap, is within bounds. At least one bound is given.
    ScanCount {
        /// Lowest count, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<u64>,
        /// Highest count, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<u64>,
    },
    /// The tag is in one of these groups, or in a group below one of them. A group that is deleted
    /// has no tags, so that a condition on only that group is never met.
    Group {
        /// Identifiers of the groups. At least one.
        #[schema(min_items = 1, max_items = 50)]
        any_of: Vec<GroupId>,
    },
    /// The page is shown in one of these languages.
    Language {
        /// Language tags such as `de` or `pt-BR`. At least one.
        #[schema(min_items = 1, max_items = 50, value_type = Vec<LanguageTag>)]
        any_of: Vec<String>,
    },
    /// The visitor's country is known and is one of these.
    Country {
        /// Codes of two letters (ISO 3166-1) such as `DE`. At least one.
        #[schema(min_items = 1, max_items = 300, value_type = Vec<CountryCode>)]
        any_of: Vec<String>,
    },
    /// The visitor's device runs one of these operating systems.
    OperatingSystem {
        /// The systems. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<OperatingSystem>,
    },
    /// The tag was scanned in one of these ways.
    Technology {
        /// `n` NFC, `q` QR code, `u` the bare URL. At least one.
        #[schema(min_items = 1)]
        any_of: Vec<Tech>,
    },
    /// The visitor is in one of the groups from `from` up to, but not including, `until`, of a
    /// hundred groups: 0 to 50 is half of all visitors. A returning visitor stays in the same group
    /// of the experience.
    Split {
        /// First group, 0 to 99.
        #[schema(maximum = 99)]
        from: u8,
        /// The group after the last one.
        #[schema(minimum = 1, maximum = 100)]
        until: u8,
    },
    /// The tap is within this period. At least one end is given.
    Time {
        /// Start of the period, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Timestamp>,
        /// End of the period, exclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
}

/// A language tag, for the OpenAPI document.
struct LanguageTag;
text_schema!(
    LanguageTag,
    "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
    max_length = 35
);

/// A country's code, for the OpenAPI document.
struct CountryCode;
text_schema!(CountryCode, "^[A-Za-z0-9]{2}$");

/// The inputs of conditions: a tap, its tag with the present values, and its visitor.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The verdict of verification.
    pub verification: VerificationState,
    /// The move of the counter in the tap's URL, if it is known.
    pub counter: Option<CounterMove>,
    /// The state of the inlay's tamper loop, if it has one.
    pub tamper: Option<Tamper>,
    /// Present variables of the tag.
    pub variables: &'a Properties,
    /// Number of the tag's taps, including this one.
    pub scan_count: u64,
    /// The tag's group with the groups above it.
    pub lineage: Option<&'a Lineage>,
    /// The language that the visitor gets, a tag such as `pt-BR`.
    pub language: &'a str,
    /// The visitor's country: two letters, or empty.
    pub country: &'a str,
    /// The operating system of the visitor's device.
    pub operating_system: OperatingSystem,
    /// How the tag was scanned; `None` before the tap is recorded.
    pub technology: Option<Tech>,
    /// The visitor's group; `None` before the tap is recorded.
    pub group: Option<u8>,
    /// Time of the tap.
    pub at: Timestamp,
}

impl When {
    /// Whether the condition applies.
    pub fn is_met(&self, context: &Context<'_>) -> bool {
        let value = |key: &PropertyKey| context.variables.get(key.as_str());
        match self {
            Self::VariableEquals {
                variable,
                value: wanted,
            } => value(variable) == Some(wanted),
            Self::VariableDiffers {
                variable,
                value: unwanted,
            } => value(variable) != Some(unwanted),
            Self::VariableEmpty { variable } => value(variable).unwrap_or_default().is_empty(),
            Self::VariableFilled { variable } => !value(variable).unwrap_or_default().is_empty(),
            Self::Verification { any_of } => any_of.contains(&context.verification),
            Self::Counter { any_of } => context.counter.is_some_and(|did| any_of.contains(&did)),
            Self::Tamper { any_of } => context.tamper.is_some_and(|state| any_of.contains(&state)),
            Self::ScanCount { at_least, at_most } => {
                at_least.is_none_or(|least| context.scan_count >= least)
                    && at_most.is_none_or(|most| context.scan_count <= most)
            }
            Self::Group { any_of } => {
                let mut chain = context.lineage.into_iter().flat_map(Lineage::groups);
                chain.any(|group| any_of.contains(&group.id))
            }
            Self::Language { any_of } => any_of
                .iter()
                .any(|language| is_within(context.language, language)),
            Self::Country { any_of } => any_of
                .iter()
                .any(|country| country.eq_ignore_ascii_case(context.country)),
            Self::OperatingSystem { any_of } => any_of.contains(&context.operating_system),
            Self::Technology { any_of } => context
                .technology
                .is_some_and(|tech| any_of.contains(&tech)),
            Self::Split { from, until } => {
                let group = context.group.unwrap_or(VISITOR_GROUPS);
                (*from..*until).contains(&group)
            }
            Self::Time { from, until } => {
                from.is_none_or(|from| context.at >= from)
                    && until.is_none_or(|until| context.at < until)
            }
        }
    }

    /// Whether it treats groups of visitors differently.
    pub fn splits(&self) -> bool {
        self.split().is_some()
    }

    /// The first group and the group after the last, if the condition is on groups.
    pub fn split(&self) -> Option<(u8, u8)> {
        match self {
            Self::Split { from, until } => Some((*from, *until)),
            _ => None,
        }
    }

    /// The countries in the condition; empty for other conditions.
    pub fn countries(&self) -> &[String] {
        match self {
            Self::Country { any_of } => any_of,
            _ => &[],
        }
    }

    /// The groups of tags in the condition; empty for other conditions.
    pub fn tag_groups(&self) -> &[GroupId] {
        match self {
            Self::Group { any_of } => any_of,
            _ => &[],
        }
    }

    /// The languages in the condition.
    pub fn languages(&self) -> &[String] {
        match self {
            Self::Language { any_of } => any_of,
            _ => &[],
        }
    }

    /// Checks lists, lengths and bounds of the condition.
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
            Self::Counter { any_of } => some(any_of),
            Self::Tamper { any_of } => some(any_of),
            Self::Group { any_of } if any_of.len() > GROUPS_MAX => Err(BlockProblem::Many {
                what: "groups",
                max: GROUPS_MAX,
            }),
            Self::Group { any_of } => some(any_of),
            Self::Language { any_of } => {
                some(any_of)?;
                if any_of.len() <= LANGUAGES_MAX && any_of.iter().all(|tag| is_language(tag)) {
                    Ok(())
                } else {
                    Err(BlockProblem::Language)
                }
            }
            Self::Country { any_of } => {
                some(any_of)?;
                let is_code = |code: &String| {
                    code.len() == 2 && code.bytes().all(|b| b.is_ascii_alphanumeric())
                };
                if any_of.len() <= COUNTRIES_MAX && any_of.iter().all(is_code) {
                    Ok(())
                } else {
                    Err(BlockProblem::Country)
                }
            }
            Self::OperatingSystem { any_of } => some(any_of),
            Self::Technology { any_of } => some(any_of),
            Self::Split { from, until } if from < until && *until <= VISITOR_GROUPS => Ok(()),
            Self::Split { .. } => Err(BlockProblem::Split),
            Self::Time { from, until } => match (from, until) {
                (None, None) => Err(BlockProblem::NothingToMeet),
                (Some(from), Some(until)) if from >= until => Err(BlockProblem::EndsBeforeItBegins),
                _ => Ok(()),
            },
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
pub fn is_language(tag: &str) -> bool {
    let subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let primary = tag.split('-').next().unwrap_or_default();
    (2..=35).contains(&tag.len())
        && (2..=8).contains(&primary.len())
        && primary.bytes().all(|b| b.is_ascii_alphabetic())
        && tag.split('-').all(subtag)
}
