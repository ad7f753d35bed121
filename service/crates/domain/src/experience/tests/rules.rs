//! Themes, rules, and the conditions that rules share with pages.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::group::{GroupFields, GroupKind, Lineage};
use crate::id::GroupId;

#[test]
fn a_theme_has_colours_and_names_that_exist() {
    let page = |theme: Value| {
        let json = json!({"kind": "studio", "blocks": [], "theme": theme});
        Content::from_json(&json.to_string())
    };
    let theme = json!({
        "scheme": "dark", "accent": "#aa3300", "background": "#fafafa", "background_dark": "#101010",
        "font": "serif", "corners": "round", "logo": 7,
    });
    let content = page(theme.clone()).unwrap();
    assert_eq!(content.images(), [ImageId::new(7)]);
    let json: Value = serde_json::from_str(&content.to_json()).unwrap();
    assert_eq!(json["theme"], theme);
    assert!(!page(json!({})).unwrap().to_json().contains("theme"));
    for theme in [
        json!({"accent": "red"}),
        json!({"accent": "#fff}body{"}),
        json!({"font": "Comic Sans"}),
        json!({"css": "x"}),
    ] {
        assert!(page(theme.clone()).is_err(), "{theme}");
    }
}

#[test]
fn a_rule_has_conditions_and_a_target() {
    let redirect = |rules: Value| {
        let json =
            json!({"kind": "redirect", "target_url": "https://example.com/", "rules": rules});
        Content::from_json(&json.to_string())
    };
    let rules = json!([
        {"when": [{"type": "verification", "any_of": ["verified"]}, {"type": "country", "any_of": ["DE"]}],
         "target_url": "https://example.com/de?x={{tag:id}}"},
        {"when": [{"type": "variable_equals", "variable": "a", "value": "b"}], "target_url": "{{tag:data:shop}}"},
    ]);
    let content = redirect(rules.clone()).unwrap();
    let json: Value = serde_json::from_str(&content.to_json()).unwrap();
    assert_eq!(json["rules"], rules);
    assert!(!redirect(json!([])).unwrap().to_json().contains("rules"));
    let when = json!([{"type": "scan_count", "at_least": 2}]);
    for (rule, sentence) in [
        (json!({"when": when}), "Rule 1: missing field `target_url`"),
        (
            json!({"when": [], "target_url": "https://example.com/"}),
            "Rule 1: It needs a condition. Without one, it is the target_url.",
        ),
        (
            json!({"when": [{"type": "scan_count"}], "target_url": "https://example.com/"}),
            "Rule 1: Its condition names nothing that could be met.",
        ),
        (
            json!({"when": when, "target_url": "javascript:alert(1)"}),
            "Rule 1: A target URL begins with http:// or https://",
        ),
        (
            json!({"when": when, "target_url": "{{tag:variable:url}}"}),
            "Rule 1: Only a tag:attribute or tag:data macro",
        ),
        (
            json!({"when": vec![json!({"type": "scan_count", "at_least": 1}); 11], "target_url": "https://example.com/"}),
            "Rule 1: It can have at most 10 conditions.",
        ),
    ] {
        let refused = redirect(json!([rule])).unwrap_err().to_string();
        assert!(refused.starts_with(sentence), "{refused}");
    }
    let many = vec![json!({"when": when, "target_url": "https://example.com/"}); 51];
    assert_eq!(
        redirect(json!(many)).unwrap_err().to_string(),
        "A redirect can have at most 50 rules."
    );
}

/// Asserts for one tap whether each condition applies.
fn check(conditions: &[(Value, bool)]) {
    let mut variables = crate::tag::Properties::default();
    for (key, value) in [("registered", "true"), ("empty", "")] {
        let key = crate::tag::PropertyKey::parse(key).unwrap();
        variables.0.insert(key, value.to_owned());
    }
    let group = |id: i64, above: Option<Arc<Lineage>>| Lineage {
        id: GroupId::new(id),
        fields: GroupFields::named(GroupKind::Folder, format!("Group {id}")),
        above,
    };
    let lineage = group(3, Some(Arc::new(group(1, None))));
    let context = Context {
        verification: crate::interaction::VerificationState::NotChecked,
        counter: Some(crate::interaction::CounterMove::Rose),
        tamper: Some(inlay::assessment::Tamper::Reclosed),
        variables: &variables,
        scan_count: 3,
        lineage: Some(&lineage),
        language: "de-AT",
        country: "AT",
        operating_system: crate::visitor::OperatingSystem::Ios,
        technology: Some(crate::interaction::Tech::Qr),
        group: Some(49),
        at: crate::clock::Timestamp::from_millis(1_767_268_800_000),
    };
    for (when, met) in conditions {
        let read: When = serde_json::from_value(when.clone()).unwrap();
        assert_eq!(read.is_met(&context), *met, "{when}");
    }
}

#[test]
fn conditions_of_the_tap_are_met_or_not() {
    check(&[
        (
            json!({"type": "verification", "any_of": ["verified", "not_verified"]}),
            false,
        ),
        (
            json!({"type": "verification", "any_of": ["not_checked"]}),
            true,
        ),
        (
            json!({"type": "counter", "any_of": ["jumped", "rose"]}),
            true,
        ),
        (json!({"type": "counter", "any_of": ["repeated"]}), false),
        (
            json!({"type": "tamper", "any_of": ["open", "reclosed"]}),
            true,
        ),
        (json!({"type": "tamper", "any_of": ["sealed"]}), false),
        (json!({"type": "technology", "any_of": ["n", "q"]}), true),
        (json!({"type": "technology", "any_of": ["u"]}), false),
        (json!({"type": "split", "from": 0, "until": 50}), true),
        (json!({"type": "split", "from": 50, "until": 100}), false),
        (json!({"type": "split", "from": 0, "until": 49}), false),
        (json!({"type": "split", "from": 49, "until": 50}), true),
    ]);
}

#[test]
fn conditions_of_tag_and_visitor_are_met_or_not() {
    check(&[
        (json!({"type": "group", "any_of": [3]}), true),
        (json!({"type": "group", "any_of": [2, 1]}), true),
        (json!({"type": "group", "any_of": [2]}), false),
        (
            json!({"type": "variable_equals", "variable": "registered", "value": "true"}),
            true,
        ),
        (
            json!({"type": "variable_equals", "variable": "registered", "value": "True"}),
            false,
        ),
        (
            json!({"type": "variable_equals", "variable": "none", "value": ""}),
            false,
        ),
        (
            json!({"type": "variable_differs", "variable": "registered", "value": "true"}),
            false,
        ),
        (
            json!({"type": "variable_differs", "variable": "none", "value": "true"}),
            true,
        ),
        (json!({"type": "variable_empty", "variable": "empty"}), true),
        (json!({"type": "variable_empty", "variable": "none"}), true),
        (
            json!({"type": "variable_empty", "variable": "registered"}),
            false,
        ),
        (
            json!({"type": "variable_filled", "variable": "registered"}),
            true,
        ),
        (
            json!({"type": "variable_filled", "variable": "none"}),
            false,
        ),
        (
            json!({"type": "scan_count", "at_least": 3, "at_most": 3}),
            true,
        ),
        (json!({"type": "scan_count", "at_least": 4}), false),
        (json!({"type": "scan_count", "at_most": 2}), false),
        (json!({"type": "language", "any_of": ["fr", "DE"]}), true),
        (json!({"type": "language", "any_of": ["de-DE"]}), false),
        (json!({"type": "language", "any_of": ["de-at"]}), true),
        (json!({"type": "country", "any_of": ["DE", "at"]}), true),
        (json!({"type": "country", "any_of": ["DE"]}), false),
        (json!({"type": "operating_system", "any_of": ["ios"]}), true),
        (
            json!({"type": "operating_system", "any_of": ["android", "other"]}),
            false,
        ),
        (
            json!({"type": "time", "from": "2026-01-01T12:00:00Z"}),
            true,
        ),
        (
            json!({"type": "time", "from": "2026-01-01T12:00:01Z"}),
            false,
        ),
        (
            json!({"type": "time", "until": "2026-01-01T12:00:00Z"}),
            false,
        ),
        (
            json!({"type": "time", "from": "2026-01-01T00:00:00+02:00", "until": "2026-01-01T14:00:00+01:00"}),
            true,
        ),
    ]);
}
