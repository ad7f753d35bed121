//! The texts of staff pages, in the languages of the service's own pages (a data file).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::studio::own_language;
use domain::experience::picture::PictureError;
use domain::interaction::{NOTE_MAX, Verdict};
use domain::scope::Scope;
use domain::sheet::verdict_title;
use domain::visitor::Languages;
use storage::{Conflict, InUse, StorageError};

/// The texts of staff pages in one language. `{name}` stands for a value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StaffWords {
    pub(super) verified: String,
    pub(super) not_verified: String,
    pub(super) not_checked: String,
    pub(super) recalled: String,
    pub(super) archived: String,
    pub(super) broken_seal: String,
    pub(super) no_tag: String,
    pub(super) slug: String,
    pub(super) uid: String,
    pub(super) group: String,
    pub(super) experience: String,
    pub(super) test_sheet: String,
    pub(super) sheet: String,
    pub(super) row: String,
    pub(super) row_of: String,
    pub(super) row_before: String,
    pub(super) row_before_of: String,
    pub(super) note: String,
    pub(super) photo: String,
    pub(super) optional: String,
    pub(super) good: String,
    pub(super) bad: String,
    pub(super) note_title: String,
    pub(super) note_text: String,
    pub(super) photo_kinds: String,
    pub(super) remove_photo: String,
    pub(super) show_photo: String,
    pub(super) assign: String,
    pub(super) none: String,
    pub(super) save: String,
    pub(super) change_variables: String,
    pub(super) move_title: String,
    pub(super) other_slug: String,
    pub(super) move_button: String,
    pub(super) last_taps: String,
    pub(super) by_visitor: String,
    pub(super) by_reader: String,
    pub(super) by_kiosk: String,
    pub(super) by_staff: String,
    pub(super) by_simulator: String,
    pub(super) just_now: String,
    pub(super) minutes_ago: String,
    pub(super) hours_ago: String,
    pub(super) day_ago: String,
    pub(super) days_ago: String,
    pub(super) saved_row: String,
    pub(super) saved_note: String,
    pub(super) saved_experience: String,
    pub(super) saved_value: String,
    pub(super) moved: String,
    pub(super) no_tag_here: String,
    pub(super) tag_is_gone: String,
    pub(super) tap_is_gone: String,
    pub(super) no_sheets: String,
    pub(super) sheet_is_gone: String,
    sheet_closed: String,
    sheet_signed_off: String,
    sheet_full: String,
    pub(super) no_variable: String,
    pub(super) value_is_long: String,
    pub(super) no_move: String,
    pub(super) nothing_to_move: String,
    pub(super) no_slug: String,
    pub(super) inlay_is_gone: String,
    pub(super) note_is_long: String,
    pub(super) note_is_empty: String,
    pub(super) photo_again: String,
    pub(super) photo_type: String,
    pub(super) photo_large: String,
    pub(super) photo_unreadable: String,
    photo_late: String,
    pub(super) too_old: String,
    pub(super) unsaved_title: String,
    pub(super) unsaved: String,
    pub(super) no_form: String,
    pub(super) lacks_scope: String,
    pub(super) outside_title: String,
    pub(super) outside: String,
    pub(super) foreign_title: String,
    pub(super) foreign: String,
    pub(super) pair_title: String,
    pub(super) pair: String,
    pub(super) pair_button: String,
    pub(super) paired_title: String,
    pub(super) paired: String,
    pub(super) paired_more: String,
    pub(super) continue_at: String,
    pub(super) already_title: String,
    pub(super) already: String,
    pub(super) over_title: String,
    pub(super) over: String,
    pub(super) scan: String,
    pub(super) scan_stop: String,
    pub(super) scan_ready: String,
    pub(super) scan_refused: String,
    pub(super) scan_off: String,
    pub(super) scan_unread: String,
    pub(super) scan_no_url: String,
    pub(super) scan_foreign: String,
    pub(super) scan_same: String,
    pub(super) missed_reads: String,
    /// The reasons for a verdict, by their names in the API.
    reasons: BTreeMap<String, String>,
    /// The verdicts of rows that people do not choose, by their names in the API.
    verdicts: BTreeMap<String, String>,
}

static WORDS: LazyLock<BTreeMap<String, StaffWords>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../data/staff-words.json"))
        .expect("the file is read by a test, too")
});

/// The language of a staff page.
#[derive(Clone, Copy, Debug)]
pub struct StaffLanguage {
    /// Its code, such as `de`.
    code: &'static str,
    words: &'static StaffWords,
}

impl StaffLanguage {
    /// The best language for the user of a phone, by its browser; else English.
    pub fn of(wanted: &Languages) -> Self {
        let code = own_language(wanted, []).unwrap_or("en");
        let (code, words) = WORDS
            .get_key_value(code)
            .or_else(|| WORDS.get_key_value("en"))
            .expect("there is English");
        Self {
            code: code.as_str(),
            words,
        }
    }

    /// Its code, such as `de`.
    pub(super) const fn code(self) -> &'static str {
        self.code
    }

    pub(super) const fn words(self) -> &'static StaffWords {
        self.words
    }

    /// The refusal of a form that is not of its page any more.
    pub fn too_old(self) -> &'static str {
        &self.words.too_old
    }

    /// The refusal of fields that are of no form of the page.
    pub fn no_form(self) -> &'static str {
        &self.words.no_form
    }

    /// The refusal of a change for which the phone has none of these scopes.
    pub fn lacks(self, scopes: &[Scope]) -> String {
        let names: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
        fill(&self.words.lacks_scope, &[("scope", &names.join(", "))])
    }

    /// The refusal of a photo.
    pub fn photo(self, error: &PictureError) -> &'static str {
        match error {
            PictureError::UnknownType => &self.words.photo_type,
            PictureError::TooLarge { .. }
            | PictureError::TooMuchMemory
            | PictureError::TooMuchBeside => &self.words.photo_large,
            PictureError::Unreadable(_) | PictureError::Ended => &self.words.photo_unreadable,
        }
    }

    /// The refusal of a photo that did not arrive in time.
    pub fn late_photo(self) -> &'static str {
        &self.words.photo_late
    }

    /// The refusal of a row, if the sheet takes none any more; `None` for other errors.
    pub fn sheet(self, error: &StorageError) -> Option<&'static str> {
        let StorageError::Conflict(Conflict::InUse(reason)) = error else {
            return None;
        };
        match reason {
            InUse::Closed => Some(self.words.sheet_closed.as_str()),
            InUse::SignedOff => Some(self.words.sheet_signed_off.as_str()),
            InUse::Full => Some(self.words.sheet_full.as_str()),
            _ => None,
        }
    }

    /// The request to choose a photo again, after a refusal.
    pub fn photo_again(self) -> &'static str {
        &self.words.photo_again
    }

    /// The refusal of a note that is too long.
    pub(super) fn long_note(self) -> String {
        fill(&self.words.note_is_long, &[("max", &NOTE_MAX.to_string())])
    }

    /// The reason for a verdict.
    pub(super) fn reason(self, verdict: Verdict) -> String {
        let (counter, last) = verdict.counters();
        let number = |number: Option<u32>| number.unwrap_or_default().to_string();
        let text = self.words.reasons.get(verdict.reason().as_str());
        let text = text.map_or("", String::as_str);
        let reason = fill(
            text,
            &[("counter", &number(counter)), ("last", &number(last))],
        );
        match verdict.missed_reads() {
            0 => reason,
            missed => {
                let missed = fill(&self.words.missed_reads, &[("n", &missed.to_string())]);
                format!("{reason} {missed}")
            }
        }
    }

    /// The verdict of a row.
    pub(super) fn verdict_of_row(self, verdict: &str) -> &str {
        let words = self.words;
        match verdict {
            "ok" => &words.good,
            "bad" => &words.bad,
            "not_verified" => &words.not_verified,
            other => {
                let known = words.verdicts.get(other);
                known.map_or_else(|| verdict_title(other), String::as_str)
            }
        }
    }
}

/// The text with its values. A value that looks like a placeholder stays as it is.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}').and_then(|(name, after)| {
            let value = values.iter().find(|(known, _)| *known == name)?;
            Some((value.1, after))
        });
        let (value, after) = named.unwrap_or(("{", after));
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use domain::interaction::{Reason, Refusal};

    /// The texts of a language with their names, also those in maps.
    fn texts(language: &Value) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (name, text) in language.as_object().unwrap() {
            match text {
                Value::String(text) => {
                    texts.insert(name.clone(), text.clone());
                }
                below => {
                    let below = self::texts(below).into_iter();
                    texts.extend(below.map(|(inner, text)| (format!("{name}.{inner}"), text)));
                }
            }
        }
        texts
    }

    /// The placeholders of a text.
    fn placeholders(text: &str) -> Vec<&str> {
        let parts = text.split('{').skip(1);
        let mut names: Vec<_> = parts.filter_map(|part| part.split('}').next()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn each_text_of_staff_pages_is_in_each_language_with_its_placeholders() {
        let file = include_str!("../../../../data/staff-words.json");
        let all: BTreeMap<String, Value> = serde_json::from_str(file).unwrap();
        let english = texts(&all["en"]);
        for (language, own) in &all {
            let own = texts(own);
            assert!(own.keys().eq(english.keys()), "{language}");
            for (name, text) in &own {
                assert!(!text.trim().is_empty(), "{language} {name}");
                let expected = placeholders(&english[name]);
                assert_eq!(placeholders(text), expected, "{language} {name}");
            }
        }
    }

    #[test]
    fn each_reason_has_a_text() {
        let reasons = &WORDS["en"].reasons;
        let known = |name: &&String| Reason::from_name(name).is_some();
        assert_eq!(reasons.keys().filter(known).count(), reasons.len());
        assert_eq!(reasons.len(), 17);
    }

    #[test]
    fn staff_pages_have_the_languages_of_visitors_pages() {
        let pages = include_str!("../../../../data/words.json");
        let pages: BTreeMap<String, Value> = serde_json::from_str(pages).unwrap();
        assert!(WORDS.keys().eq(pages.keys()));
        for code in WORDS.keys() {
            assert_eq!(StaffLanguage::of(&Languages::of(code)).code(), code);
        }
        assert_eq!(StaffLanguage::of(&Languages::of("de-AT")).code(), "de");
        assert_eq!(StaffLanguage::of(&Languages::of("xx")).code(), "en");
        assert_eq!(StaffLanguage::of(&Languages::default()).code(), "en");
    }

    #[test]
    fn a_value_is_no_placeholder() {
        let filled = fill("{a} and {b} {c}", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} and 2 {c}");
        assert_eq!(fill("{", &[("a", "1")]), "{");
    }

    #[test]
    fn a_reason_has_its_counters() {
        let english = StaffLanguage::of(&Languages::default());
        let verdict = Verdict::NotVerified(Refusal::OutOfOrder {
            counter: 4,
            last: 9,
        });
        let expected = "Counter 4 after 9: a later code of this inlay arrived first.";
        assert_eq!(english.reason(verdict), expected);
        let verdict = Verdict::Verified {
            counter: 9,
            previous: 4,
        };
        let expected = "Counter 9 after 4. Reads of this inlay that never reached the service: 4.";
        assert_eq!(english.reason(verdict), expected);
    }
}
