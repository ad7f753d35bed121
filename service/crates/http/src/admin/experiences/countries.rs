//! Finds conditions on a country that no visitor can meet, because the service has no source of
//! countries.

use crate::state::AppState;
use domain::experience::Content;

/// A warning if no visitor can meet a condition on a country.
pub(super) fn warning(state: &AppState, content: &Content) -> Option<String> {
    let settings = state.shared().settings();
    // The header counts only if it comes from a trusted proxy.
    let header = settings.country_header.is_some() && !settings.trusted_proxies.is_empty();
    if header || state.edge.countries.is_open() {
        return None;
    }
    never_met(content, &settings.default_country)
}

/// The same if every visitor has the default country, or none if the default is empty.
fn never_met(content: &Content, default: &str) -> Option<String> {
    let named = content.countries();
    let unmet = named.iter().filter(|(_, countries)| {
        !countries
            .iter()
            .any(|country| country.eq_ignore_ascii_case(default))
    });
    let mut numbers: Vec<u32> = unmet.map(|(number, _)| *number).collect();
    numbers.dedup();
    let list: Vec<_> = numbers.iter().map(u32::to_string).collect();
    let what = match content {
        Content::Redirect { .. } => "rule",
        Content::Studio { .. } => "block",
    };
    let asking = match &list[..] {
        [] => return None,
        [number] => format!("{what} {number} asks"),
        numbers => format!("{what}s {} ask", numbers.join(", ")),
    };
    Some(match default {
        "" => format!(
            "The country that {asking} for is never known: this service has no source of countries. \
             Set a country file, the country header of a trusted proxy, or a default country."
        ),
        default => format!(
            "The country that {asking} for is never met: every visitor counts as from {default}, the \
             default country. Set a country file, or the country header of a trusted proxy."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"{"kind": "redirect", "target_url": "https://owner.example/", "rules": [
        {"when": [{"type": "scan_count", "at_least": 1}], "target_url": "https://owner.example/1"},
        {"when": [{"type": "country", "any_of": ["de", "AT"]}], "target_url": "https://owner.example/2"},
        {"when": [{"type": "country", "any_of": ["FR"]}], "target_url": "https://owner.example/3"}]}"#;
    const PAGE: &str = r#"{"kind": "studio", "blocks": [{"type": "divider"},
        {"type": "condition", "when": {"type": "scan_count", "at_least": 1}, "blocks": [],
         "otherwise": [{"type": "condition", "when": {"type": "country", "any_of": ["DE"]}, "blocks": []}]}]}"#;

    #[test]
    fn a_condition_that_no_visitor_can_meet_is_named() {
        for (content, default, begins) in [
            (
                RULES,
                "",
                Some("The country that rules 2, 3 ask for is never known"),
            ),
            (
                RULES,
                "DE",
                Some("The country that rule 3 asks for is never met"),
            ),
            (
                RULES,
                "US",
                Some("The country that rules 2, 3 ask for is never met"),
            ),
            (
                PAGE,
                "",
                Some("The country that block 2 asks for is never known"),
            ),
            (PAGE, "DE", None),
        ] {
            let content = Content::from_json(content).unwrap();
            let warning = never_met(&content, default);
            let warning = warning.as_deref();
            assert_eq!(warning.is_some(), begins.is_some(), "{warning:?}");
            assert!(
                warning
                    .unwrap_or_default()
                    .starts_with(begins.unwrap_or_default()),
                "{warning:?}"
            );
        }
    }
}
