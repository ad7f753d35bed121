//! The step that names a tap's destination.

use super::{cut, leads_nowhere, recall};
use crate::experience::{Content, LedBy, Rule, conditions};
use crate::interaction::Interaction;
use crate::macros::{LOCATION_MAX, Target};
use crate::trace::{Step, StepName, StepVerdict, TracedInteraction};

/// Longest text for the conditions of a rule, in characters. A condition can name 300 countries.
const CONDITIONS_SHOWN: usize = 120;

/// The destination, and the rule that chose it.
pub(super) fn step(traced: &TracedInteraction) -> Step {
    let (step, detail) = match &traced.experience {
        Some(experience) if traced.interaction.key_issued => {
            let to = match &*experience.content {
                Content::Redirect { target, rules, .. } if rules.is_empty() => {
                    target.source().to_owned()
                }
                Content::Redirect { target, rules, .. } => by_rules(target, rules, traced),
                Content::Studio { .. } => "a page of the service".to_owned(),
            };
            let (name, version) = (&experience.name, experience.version.version);
            let left_out = match &*traced.left_out {
                [] => String::new(),
                macros => format!(
                    " · the URL is limited to {LOCATION_MAX} bytes; left out: {}",
                    macros.join(", ")
                ),
            };
            let recall = recall(traced).map_or_else(String::new, |recall| format!(" · {recall}"));
            let detail = format!("{to} · {name}, version {version}{recall}{left_out}");
            (StepVerdict::Ok, detail)
        }
        _ => (StepVerdict::NotChecked, leads_nowhere(traced)),
    };
    Step::new(StepName::Redirect, step, detail)
}

/// The destination that the rules of a redirect chose, and which rule did.
fn by_rules(target: &Target, rules: &[Rule], traced: &TracedInteraction) -> String {
    let unknown = country_unknown(rules, &traced.interaction);
    match traced.led_by {
        Some(LedBy::Default) => {
            format!("no rule applied: {}{unknown}", target.source())
        }
        Some(LedBy::Rule(number)) => {
            let rule = usize::try_from(number).ok();
            let rule = rule.and_then(|number| rules.get(number.checked_sub(1)?));
            let rule = rule.map_or_else(String::new, |rule| {
                let conditions = cut(&conditions(rule, &traced.groups), CONDITIONS_SHOWN);
                format!(" ({conditions}): {}", rule.target_url.source())
            });
            format!("rule {number}{rule}{unknown}")
        }
        None => "by its rules; which one applied is not known".to_owned(),
    }
}

/// Names the rules that could not apply because the visitor's country is unknown.
fn country_unknown(rules: &[Rule], tap: &Interaction) -> String {
    // If the visitor's data were erased, no trait is known any more, not even the system.
    if !tap.country.is_empty() || tap.traits.system.is_none() {
        return String::new();
    }
    let asks = |rule: &Rule| rule.when.iter().any(|when| !when.countries().is_empty());
    let asking = (1..).zip(rules).filter(|(_, rule)| asks(rule));
    let asking: Vec<_> = asking
        .map(|(number, _): (u32, _)| number.to_string())
        .collect();
    match &asking[..] {
        [] => String::new(),
        [number] => {
            format!(" · the visitor's country is unknown, so rule {number} could not apply")
        }
        numbers => format!(
            " · the visitor's country is unknown, so rules {} could not apply",
            numbers.join(", ")
        ),
    }
}
