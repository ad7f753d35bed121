//! Fonts for the kiosk's languages: without one, visitors see boxes instead of letters. Tapdesk
//! brings the Latin letters. Fonts of other scripts are too large, and every system packages them.

use serde::Serialize;

/// Languages that need a font of the system, with the package of Debian and its relatives that
/// brings one.
const NEEDED: [(&str, &str); 4] = [
    ("ar", "fonts-noto-core"),
    ("he", "fonts-noto-core"),
    ("ja", "fonts-noto-cjk"),
    ("zh", "fonts-noto-cjk"),
];

/// A language without a font on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskMissingFont"))]
pub(crate) struct MissingFont {
    /// The code of the language, as in BCP 47.
    language: &'static str,
    /// The package that brings a font.
    package: &'static str,
}

/// The languages for which `has_font` finds no font. `None` from it means that nobody knows.
fn missing(has_font: impl Fn(&str) -> Option<bool>) -> Vec<MissingFont> {
    let needed = NEEDED.iter().copied();
    let lacking = needed.filter(|&(language, _)| has_font(language) == Some(false));
    let named = lacking.map(|(language, package)| MissingFont { language, package });
    named.collect()
}

/// The languages without a font on this machine. Blocks.
pub(crate) fn missing_here() -> Vec<MissingFont> {
    missing(has_font)
}

/// Asks fontconfig, which chooses the fonts of pages, for a font of a language; `None` if its
/// program is not there.
#[cfg(target_os = "linux")]
fn has_font(language: &str) -> Option<bool> {
    let mut list = std::process::Command::new("fc-list");
    let listed = list.args([&format!(":lang={language}"), "family"]).output();
    let listed = listed.ok().filter(|listed| listed.status.success())?;
    Some(!listed.stdout.trim_ascii().is_empty())
}

/// Other systems bring fonts of all languages.
#[cfg(not(target_os = "linux"))]
fn has_font(_: &str) -> Option<bool> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_font_names_its_package() {
        let found = missing(|language| Some(language != "ja"));
        let expected = MissingFont {
            language: "ja",
            package: "fonts-noto-cjk",
        };
        assert_eq!(found, [expected]);
        assert_eq!(missing(|_| None), [], "nobody knows");
    }

    #[test]
    fn only_languages_of_the_kiosk_are_asked_for() {
        let known =
            |(language, _): &(&str, &str)| crate::kiosk_settings::language::is_language(language);
        assert!(NEEDED.iter().all(known));
    }
}
