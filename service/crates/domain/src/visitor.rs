//! A visitor's languages and operating system, as the browser states them, unchecked. The stored
//! part is in the interaction's `Traits`.

mod languages;
mod user_agent;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use languages::{Languages, is_within, primary};
pub use user_agent::UserAgent;

/// The facts that a browser states.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// The languages that its user reads.
    pub languages: Languages,
    /// System of the device.
    pub operating_system: OperatingSystem,
}

/// The operating system of a visitor's device, according to its browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperatingSystem {
    /// Phones and tablets with Android.
    Android,
    /// iPhones and iPods.
    Ios,
    /// iPadOS, if it can be distinguished from macOS: Safari on an iPad identifies itself as a Mac.
    Ipados,
    /// Any version of Microsoft Windows.
    Windows,
    /// Macs, and iPads that identify themselves as one.
    Macos,
    /// Linux on a computer, including `ChromeOS`.
    Linux,
    /// Another or unknown system.
    #[default]
    Other,
}

impl OperatingSystem {
    const ALL: [Self; 7] = [
        Self::Android,
        Self::Ios,
        Self::Ipados,
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
            Self::Ipados => "ipados",
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
    /// The language for reports: the first part of the best one, such as `de` of `de-AT`. Only
    /// parts of two or three letters are kept; every well-known language has one.
    pub fn reported_language(&self) -> Option<String> {
        let best = primary(self.languages.wanted().next()?).to_ascii_lowercase();
        let is_code = matches!(best.len(), 2 | 3) && best.bytes().all(|b| b.is_ascii_lowercase());
        is_code.then_some(best)
    }
}

/// Whether a language is written from right to left.
pub fn is_right_to_left(language: &str) -> bool {
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
    fn a_report_counts_a_language_by_its_first_part_and_nothing_odd() {
        for (header, language) in [
            ("de-AT,en;q=0.8", Some("de")),
            ("FIL", Some("fil")),
            ("x-klingon", None),
            ("12", None),
            ("", None),
        ] {
            let visitor = Visitor {
                languages: Languages::of(header),
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
