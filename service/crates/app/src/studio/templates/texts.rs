//! The texts of the templates in languages other than English (a data file for each).

use std::collections::BTreeMap;

use serde_json::Value;

use domain::visitor::primary;

/// Texts of one language, by the English ones. A URL with a subject for a mail counts as a text,
/// too.
pub(super) type Texts = BTreeMap<String, String>;

/// English, in which the templates are written, has no file.
pub(super) const ENGLISH: &str = "en";

/// The languages that have a file.
pub(super) const FILES: [(&str, &str); 11] = [
    (
        "ar",
        include_str!("../../../../../data/template-texts/ar.json"),
    ),
    (
        "de",
        include_str!("../../../../../data/template-texts/de.json"),
    ),
    (
        "es",
        include_str!("../../../../../data/template-texts/es.json"),
    ),
    (
        "fr",
        include_str!("../../../../../data/template-texts/fr.json"),
    ),
    (
        "he",
        include_str!("../../../../../data/template-texts/he.json"),
    ),
    (
        "it",
        include_str!("../../../../../data/template-texts/it.json"),
    ),
    (
        "ja",
        include_str!("../../../../../data/template-texts/ja.json"),
    ),
    (
        "nl",
        include_str!("../../../../../data/template-texts/nl.json"),
    ),
    (
        "pl",
        include_str!("../../../../../data/template-texts/pl.json"),
    ),
    (
        "pt",
        include_str!("../../../../../data/template-texts/pt.json"),
    ),
    (
        "zh",
        include_str!("../../../../../data/template-texts/zh.json"),
    ),
];

/// The languages of the templates.
pub fn template_languages() -> Vec<&'static str> {
    let mut all: Vec<_> = FILES.iter().map(|(language, _)| *language).collect();
    all.push(ENGLISH);
    all.sort_unstable();
    all
}

/// The language of the templates for a language tag: `de` for `de-AT`; English if there are no
/// texts in it.
pub fn template_language(tag: &str) -> &'static str {
    let mut all = template_languages().into_iter();
    all.find(|language| language.eq_ignore_ascii_case(primary(tag)))
        .unwrap_or(ENGLISH)
}

/// The texts of a language of [`FILES`]; empty for English.
pub(super) fn texts(language: &str) -> Result<Texts, serde_json::Error> {
    let file = FILES.iter().find(|(name, _)| *name == language);
    file.map_or_else(|| Ok(Texts::new()), |(_, json)| serde_json::from_str(json))
}

/// Replaces every text below `value`. A text of a form's choice and the same text in a condition
/// become the same translation, so that they still match.
pub(super) fn translate(value: &mut Value, texts: &Texts) {
    match value {
        Value::String(text) => {
            if let Some(translation) = texts.get(text) {
                text.clone_from(translation);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| translate(item, texts)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| translate(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
