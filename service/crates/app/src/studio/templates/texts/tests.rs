use std::collections::BTreeSet;

use super::*;
use crate::studio::templates::{FILES as TEMPLATES, Sample};
use crate::studio::words::languages;
use domain::experience::rich_text::{self, Outline};

/// The members of a template that hold texts for people.
const TEXTS: [&str; 7] = [
    "title",
    "about",
    "text",
    "label",
    "key",
    "submit_label",
    "choices",
];

fn templates() -> impl Iterator<Item = Value> {
    TEMPLATES
        .iter()
        .map(|json| serde_json::from_str(json).unwrap())
}

/// All texts below a value, each with the member that holds it.
fn leaves<'a>(member: &'a str, value: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => found.push((member, text)),
        Value::Array(items) => items.iter().for_each(|item| leaves(member, item, found)),
        Value::Object(members) => members
            .iter()
            .for_each(|(member, value)| leaves(member, value, found)),
        _ => {}
    }
}

/// The macros of a text, without their fallback texts.
fn macros(text: &str) -> Vec<String> {
    let inner = text.split("{{").skip(1);
    let inner = inner.filter_map(|rest| rest.split_once("}}"));
    inner
        .map(|(name, _)| name.split('"').step_by(2).collect())
        .collect()
}

/// Whether a text has words to translate, outside of macros or in a fallback.
fn has_words(text: &str) -> bool {
    let outside = text.split("{{").enumerate();
    let outside = outside.map(|(at, part)| match (at, part.split_once("}}")) {
        (1.., Some((inside, after))) => {
            let fallbacks: String = inside.split('"').skip(1).step_by(2).collect();
            fallbacks + after
        }
        _ => part.to_owned(),
    });
    outside
        .into_iter()
        .any(|part| part.contains(char::is_alphabetic))
}

#[test]
fn every_language_has_every_text_with_its_macros_and_no_other() {
    let templates: Vec<_> = templates().collect();
    let mut found = Vec::new();
    for template in &templates {
        leaves("", template, &mut found);
    }
    let all: BTreeSet<_> = found.iter().map(|(_, text)| *text).collect();
    let needed = found.iter().filter(|(member, text)| {
        let is_text = TEXTS.contains(member) && has_words(text);
        is_text || text.contains("?subject=")
    });
    let mut needed: BTreeSet<_> = needed.map(|(_, text)| *text).collect();
    needed.extend(
        templates
            .iter()
            .map(|template| template["experience"]["name"].as_str().unwrap()),
    );
    // A sample value such as an article number needs no translation; but if one language has one,
    // all must.
    let german = texts("de").unwrap();
    for (language, _) in FILES {
        let texts = texts(language).unwrap();
        assert!(texts.keys().eq(german.keys()), "{language}");
        for text in &needed {
            assert!(texts.contains_key(*text), "{language}: {text}");
        }
        for (text, translation) in &texts {
            assert!(all.contains(text.as_str()), "{language}: {text}");
            assert_eq!(macros(text), macros(translation), "{language}: {text}");
            let marks = |text: &str| text.matches(['*', '>', '[', '\n']).count();
            assert_eq!(marks(text), marks(translation), "{language}: {text}");
            assert!(!translation.trim().is_empty(), "{language}: {text}");
        }
    }
}

#[test]
fn the_templates_are_in_the_languages_of_the_services_own_words() {
    assert!(languages().eq(template_languages()));
    for (tag, language) in [("de-AT", "de"), ("JA", "ja"), ("fi", "en"), ("en-GB", "en")] {
        assert_eq!(template_language(tag), language, "{tag}");
    }
}

#[test]
fn a_choice_and_the_condition_on_it_become_the_same_text() {
    let mut value = serde_json::json!({
        "choices": ["Good", "Bad"],
        "when": {"type": "variable_equals", "variable": "rating", "value": "Good"}
    });
    translate(&mut value, &texts("de").unwrap());
    assert_eq!(value["choices"][0], value["when"]["value"]);
    assert_ne!(value["choices"][0], "Good");
    assert_eq!(value["when"]["type"], "variable_equals");
}

#[test]
fn emphasis_is_markup_in_every_language() {
    // Stars between two letters without a space, as in Japanese, may not count as emphasis.
    let nothing = Sample::default();
    for (language, _) in FILES {
        for text in texts(language)
            .unwrap()
            .values()
            .filter(|text| text.contains("**"))
        {
            let html = rich_text::to_html(text, &nothing, None, &mut Outline::default());
            assert!(
                html.contains("<strong>") && !html.contains('*'),
                "{language}: {html}"
            );
        }
    }
}
