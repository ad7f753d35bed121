//! What the service itself says on a page, in the language of the page (a data file).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::visitor::{negotiate, primary};

/// The service's own words in one language. Each is a sentence, or as much of one as its place has room for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// What was sent is saved.
    pub saved: String,
    /// A form that waits for another tap.
    pub more: String,
    /// The key of the tap is consumed, and not by what was sent.
    pub used: String,
    /// The title of the page that says so.
    pub over_title: String,
    /// The key of the tap has expired.
    pub over: String,
    /// The tag wants a verified tap.
    pub unverified: String,
    /// The tag has no such variable.
    pub not_ready: String,
    /// A value is too long.
    pub too_long: String,
    /// A field that has to be filled in is empty. Its label follows.
    pub missing: String,
    /// A form that can be sent once per tag, and was.
    pub sent: String,
    /// The network fails.
    pub offline: String,
    /// The service fails.
    pub later: String,
    /// The button of a form that is on its way.
    pub sending: String,
    /// No choice was made yet.
    pub choose: String,
    /// Beside the label of a field that need not be filled in.
    pub optional: String,
    /// The tag leads nowhere.
    pub not_set_up: String,
    /// The tag is no longer in use.
    pub archived: String,
    /// The tap was not recorded.
    pub try_again: String,
}

static WORDS: LazyLock<BTreeMap<String, Words>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/words.json"))
        .expect("the file is read by a test, too")
});

/// The words in a language such as `de-AT`; English if there are none.
pub(crate) fn words(language: &str) -> &'static Words {
    WORDS
        .get(&primary(language).to_ascii_lowercase())
        .unwrap_or_else(|| &WORDS["en"])
}

/// The language of a page that is the service's own: the best one for its visitor.
pub(crate) fn own_language(wanted: &[String]) -> Option<&'static str> {
    let offered: Vec<_> = WORDS.keys().map(String::as_str).collect();
    negotiate(wanted, &offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_word() {
        assert!(WORDS.len() >= 12);
        assert_eq!(words("de-AT").choose, "Bitte wählen");
        assert_eq!(words("xx").choose, "Please choose");
        assert_eq!(
            own_language(&["xx".to_owned(), "pt-BR".to_owned()]),
            Some("pt")
        );
    }
}
