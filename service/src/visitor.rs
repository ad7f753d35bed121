//! What a visitor's browser says of itself: its languages and its system.
//! It is taken as said. What is kept of it is in its interaction's `Traits`.

mod user_agent;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use user_agent::UserAgent;

/// What a browser says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visitor {
    /// The languages its user reads, the best first.
    pub languages: Vec<String>,
    /// Its operating system.
    pub operating_system: OperatingSystem,
}

/// The operating system of a visitor's device, according to its browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperatingSystem {
    /// Android.
    Android,
    /// iOS, and iPadOS if it does not say that it is macOS.
    Ios,
    /// Windows.
    Windows,
    /// macOS.
    Macos,
    /// Linux, `ChromeOS` included.
    Linux,
    /// Another one, or an unknown one.
    #[default]
    Other,
}

impl OperatingSystem {
    const ALL: [Self; 6] = [
        Self::Android,
        Self::Ios,
        Self::Windows,
        Self::Macos,
        Self::Linux,
        Self::Other,
    ];

    /// Its name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::Ios => "ios",
            Self::Windows => "windows",
            Self::Macos => "macos",
            Self::Linux => "linux",
            Self::Other => "other",
        }
    }

    /// The system with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.as_str() == name)
    }
}

impl Visitor {
    /// The language that a report counts: the first part of the best one, as `de` of `de-AT`.
    /// Only parts of two or three letters are kept, which every language has that people name.
    pub(crate) fn reported_language(&self) -> Option<String> {
        let best = primary(self.languages.first()?).to_ascii_lowercase();
        let is_code = matches!(best.len(), 2 | 3) && best.bytes().all(|b| b.is_ascii_lowercase());
        is_code.then_some(best)
    }
}

/// Most languages that are read of a header.
const LANGUAGES_MAX: usize = 20;

/// The languages of an `Accept-Language` header, the best first (RFC 9110, section 12.5.4).
pub(crate) fn accepted_languages(header: &str) -> Vec<String> {
    let mut weighted: Vec<(u32, &str)> = header
        .split(',')
        .take(LANGUAGES_MAX)
        .filter_map(|range| {
            let (language, parameters) = range.split_once(';').unwrap_or((range, ""));
            let weight = match parameters.trim().strip_prefix("q=") {
                Some(weight) => weight.trim().parse::<f32>().ok()?,
                None => 1.0,
            };
            let language = language.trim();
            let is_tag = language
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-');
            let wanted =
                weight > 0.0 && weight <= 1.0 && is_tag && (2..=35).contains(&language.len());
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is within 0 and 1000"
            )]
            wanted.then_some(((weight * 1000.0) as u32, language))
        })
        .collect();
    weighted.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    weighted
        .into_iter()
        .map(|(_, language)| language.to_owned())
        .collect()
}

/// The one of the `offered` languages that is best for somebody who reads
/// `wanted`, the best first; `None` if none of them is. A language is also
/// met by a wider one (`de` for `de-AT`), and as a last resort by another one of
/// the same kind (`pt-BR` for `pt`).
pub(crate) fn negotiate<'a>(wanted: &[String], offered: &[&'a str]) -> Option<&'a str> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    wanted.iter().find_map(|wanted| {
        let mut range = wanted.as_str();
        loop {
            if let Some(found) = offered.iter().find(|one| same(one, range)) {
                return Some(*found);
            }
            match range.rsplit_once('-') {
                Some((wider, _)) => range = wider,
                None => break,
            }
        }
        offered
            .iter()
            .copied()
            .find(|one| same(primary(one), range))
    })
}

/// The first part of a language tag.
pub(crate) fn primary(language: &str) -> &str {
    language.split('-').next().unwrap_or(language)
}

/// Whether a language is written from right to left.
pub(crate) fn is_right_to_left(language: &str) -> bool {
    const SCRIPTS: [&str; 6] = ["Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm"];
    const LANGUAGES: [&str; 12] = [
        "ar", "arc", "ckb", "dv", "fa", "he", "iw", "ps", "sd", "ug", "ur", "yi",
    ];
    let script = language.split('-').skip(1).find(|subtag| subtag.len() == 4);
    match script {
        Some(script) => SCRIPTS.iter().any(|one| one.eq_ignore_ascii_case(script)),
        None => LANGUAGES
            .iter()
            .any(|one| one.eq_ignore_ascii_case(primary(language))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_language_comes_first() {
        for (header, languages) in [
            ("de-AT,de;q=0.9,en;q=0.8", vec!["de-AT", "de", "en"]),
            ("en;q=0.5, fr", vec!["fr", "en"]),
            ("en;q=0, fr;q=x, de;q=2, nl", vec!["nl"]),
            ("*, de;q=0.3", vec!["de"]),
            ("", vec![]),
            ("<script>, d, \u{e9}\u{e9}", vec![]),
        ] {
            assert_eq!(accepted_languages(header), languages, "{header}");
        }
        assert_eq!(accepted_languages(&"de,".repeat(1000)).len(), LANGUAGES_MAX);
    }

    #[test]
    fn a_report_counts_a_language_by_its_first_part_and_nothing_odd() {
        for (header, language) in [
            ("de-AT,en;q=0.8", Some("de")),
            ("FIL", Some("fil")),
            ("x-klingon", None),
            ("12", None),
            ("", None),
        ] {
            let visitor = Visitor {
                languages: accepted_languages(header),
                ..Visitor::default()
            };
            assert_eq!(visitor.reported_language().as_deref(), language, "{header}");
        }
    }

    #[test]
    fn a_system_is_stored_by_the_name_it_has_in_json() {
        for system in OperatingSystem::ALL {
            assert_eq!(serde_json::to_value(system).unwrap(), system.as_str());
            assert_eq!(OperatingSystem::from_name(system.as_str()), Some(system));
        }
    }

    #[test]
    fn a_visitor_gets_the_nearest_language() {
        let offered = ["de", "pt-BR", "zh-Hant"];
        for (wanted, found) in [
            ("de-AT", Some("de")),
            ("DE", Some("de")),
            ("pt", Some("pt-BR")),
            ("pt-PT", Some("pt-BR")),
            ("zh-Hant-TW", Some("zh-Hant")),
            ("fr", None),
            ("fr, zh;q=0.5", Some("zh-Hant")),
        ] {
            assert_eq!(
                negotiate(&accepted_languages(wanted), &offered),
                found,
                "{wanted}"
            );
        }
    }

    #[test]
    fn direction_follows_the_script() {
        for (language, right_to_left) in [
            ("ar", true),
            ("he-IL", true),
            ("az-Arab", true),
            ("fa", true),
            ("ar-Latn", false),
            ("en", false),
            ("de-AT", false),
        ] {
            assert_eq!(is_right_to_left(language), right_to_left, "{language}");
        }
    }
}
