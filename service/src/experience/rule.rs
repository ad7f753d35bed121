//! Rules of a redirect experience: other targets, each under its conditions.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{Context, When};
use crate::macros::Target;
use crate::object;

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
    #[serde(deserialize_with = "object::list")]
    pub when: Vec<When>,
    /// The target of a tap then, under the same rules as the redirect's `target_url`.
    #[schema(value_type = String, max_length = 4096)]
    pub target_url: Target,
}

/// Which rules cannot be, and why. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// More than [`RULES_MAX`].
    #[error("A redirect can have at most {RULES_MAX} rules.")]
    TooMany,
    /// One of them.
    #[error("Rule {number}: {problem}")]
    Malformed {
        /// Its place, from 1.
        number: usize,
        /// What is wrong, in words.
        problem: String,
    },
}

impl Rule {
    /// Whether it leads.
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
        let rule = object::one::<Rule, _>(value).map_err(|error| error.to_string());
        let checked = rule.and_then(|rule| rule.check().map(|()| rule));
        checked.map_err(|problem| RuleError::Malformed { number, problem })
    });
    rules.collect()
}
