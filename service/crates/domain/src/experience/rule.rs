//! Rules of a redirect experience: other targets, each under its conditions.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{Context, When};
use crate::macros::{self, Target};
use crate::strict_json;

/// Most rules of a redirect.
pub const RULES_MAX: usize = 50;
/// Most conditions of a rule.
const CONDITIONS_MAX: usize = 10;

/// A target and its conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Conditions that must all be met. At least one.
    #[schema(min_items = 1, max_items = 10)]
    #[serde(deserialize_with = "strict_json::list")]
    pub when: Vec<When>,
    /// The target of a tap if they all apply. The rules for the redirect's `target_url` apply to
    /// it.
    #[schema(value_type = String, max_length = 4096)]
    pub target_url: Target,
}

/// The part of a redirect with rules that decided its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedBy {
    /// The rule with this number, from 1.
    Rule(u32),
    /// No rule applied: the redirect's `target_url`.
    Default,
}

impl LedBy {
    /// The number in storage: 0 for the default.
    pub const fn number(self) -> u32 {
        match self {
            Self::Rule(number) => number,
            Self::Default => 0,
        }
    }

    /// The value with this number in storage.
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Default,
            number => Self::Rule(number),
        }
    }
}

/// A rule that is not valid, and why. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There are more than [`RULES_MAX`] rules.
    #[error("A redirect can have at most {RULES_MAX} rules.")]
    TooMany,
    /// One rule is not valid.
    #[error("Rule {number}: {problem}")]
    Malformed {
        /// Its position, from 1.
        number: usize,
        /// The error, in words.
        problem: String,
    },
}

impl Rule {
    /// Whether all its conditions apply.
    pub fn is_met(&self, context: &Context<'_>) -> bool {
        self.when.iter().all(|when| when.is_met(context))
    }

    fn check(&self) -> Result<(), String> {
        match self.when.len() {
            0 => Err("It needs a condition. Without one, it is the target_url.".to_owned()),
            1..=CONDITIONS_MAX => self
                .when
                .iter()
                .try_for_each(When::check)
                .map_err(|problem| problem.to_string()),
            _ => Err(format!("It can have at most {CONDITIONS_MAX} conditions.")),
        }
    }
}

/// Reads rules and checks each.
pub(super) fn read(values: Vec<Value>) -> Result<Vec<Rule>, RuleError> {
    if values.len() > RULES_MAX {
        return Err(RuleError::TooMany);
    }
    let rules = values.into_iter().zip(1..).map(|(value, number)| {
        let rule = strict_json::one::<Rule, _>(value).map_err(|error| error.to_string());
        let checked = rule.and_then(|rule| rule.check().map(|()| rule));
        checked.map_err(|problem| RuleError::Malformed { number, problem })
    });
    rules.collect()
}

/// Checks that each macro of the rules' targets can have a value.
pub(super) fn check_macros(rules: &[Rule]) -> Result<(), RuleError> {
    check_targets(rules.iter().map(|rule| rule.target_url.source()))
}

/// Runs the same check on rules that are not parsed yet.
pub(super) fn check_urls(rules: &[Value]) -> Result<(), RuleError> {
    let targets = rules.iter().map(|rule| rule.get("target_url"));
    check_targets(targets.map(|url| url.and_then(Value::as_str).unwrap_or_default()))
}

fn check_targets<'a>(targets: impl Iterator<Item = &'a str>) -> Result<(), RuleError> {
    (1..).zip(targets).try_for_each(|(number, target)| {
        macros::check(target).map_err(|error| RuleError::Malformed {
            number,
            problem: error.to_string(),
        })
    })
}
