//! The service's own texts on a page, in the language of the page (a data file).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use domain::visitor::{Languages, primary};

/// The service's own texts in one language. Each is a sentence, or a shorter text if its place is
/// small.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The form is saved.
    pub saved: String,
    /// A form that can be sent after another tap.
    pub more: String,
    /// The key of the tap was already used, by another form or request.
    pub used: String,
    /// The title of the page for an expired key.
    pub over_title: String,
    /// The key of the tap has expired.
    pub over: String,
    /// The tag requires a verified tap.
    pub unverified: String,
    /// The tag does not have the variable.
    pub not_ready: String,
    /// The same, but the submission is kept.
    pub kept: String,
    /// A value is too long.
    pub too_long: String,
    /// A field that has to be filled in is empty.
    pub missing: String,
    /// The entry of a field is not a mail address.
    pub email: String,
    /// The entry of a field is not a number.
    pub number: String,
    /// The entry of a field is not one of its choices.
    pub choice: String,
    /// The entry of a field is too long; `{max}` stands for the number of characters.
    pub at_most: String,
    /// A form that can be sent once per tag was already sent.
    pub sent: String,
    /// The page has no such form or button any more.
    pub not_offered: String,
    /// The network does not work.
    pub offline: String,
    /// The service reports an error.
    pub later: String,
    /// The button of a form that is being sent.
    pub sending: String,
    /// No choice was made yet.
    pub choose: String,
    /// Next to the label of a field that is not required.
    pub optional: String,
    /// The title of the page if no tag has the address.
    pub unknown_title: String,
    /// The text of that page.
    pub unknown: String,
    /// The title of the page if nothing is at the address, and no tag can be.
    pub nothing_title: String,
    /// The text of that page.
    pub nothing: String,
    /// The title of the page of an inlay that is on no tag yet.
    pub no_tag_title: String,
    /// The text of that page.
    pub no_tag: String,
    /// The title of the page at `/`, if its owner has no name.
    pub home_title: String,
    /// The text of that page.
    pub home: String,
    /// The tag has no destination yet.
    pub not_set_up: String,
    /// The tag is no longer in use.
    pub archived: String,
    /// The goods with the tag are recalled.
    pub recalled: String,
    /// The tap was not recorded.
    pub try_again: String,
    /// The title of the page that appears when a phone opens the test URL of the address.
    pub reached_title: String,
    /// The text of that page.
    pub reached: String,
}

static WORDS: LazyLock<BTreeMap<String, Words>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../data/words.json"))
        .expect("the file is read by a test, too")
});

/// The texts in a language such as `de-AT`; English if there are none.
pub fn words(language: &str) -> &'static Words {
    WORDS
        .get(&primary(language).to_ascii_lowercase())
        .unwrap_or_else(|| &WORDS["en"])
}

/// The languages that have texts.
#[cfg(test)]
pub(super) fn languages() -> impl Iterator<Item = &'static str> {
    WORDS.keys().map(String::as_str)
}

/// The best language for a visitor of one of the service's own pages. `more` are languages in which
/// the page has a text of its owner.
pub fn own_language<'a>(
    wanted: &Languages,
    more: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let own = WORDS.keys().map(String::as_str);
    let offered: Vec<&str> = more.into_iter().chain(own).collect();
    wanted.best(None, &offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_word() {
        assert!(WORDS.len() >= 12);
        assert_eq!(words("de-AT").choose, "Bitte wählen");
        assert_eq!(words("xx").choose, "Please choose");
        assert!(WORDS.values().all(|words| words.at_most.contains("{max}")));
        assert_eq!(
            own_language(&Languages::of("xx, pt-BR;q=0.5, de;q=0.1"), []),
            Some("pt")
        );
        let more = own_language(&Languages::of("sv-SE, de;q=0.9"), ["sv"]);
        assert_eq!(more, Some("sv"));
    }
}
