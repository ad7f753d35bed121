//! Fonts for the kiosk's languages: without one, visitors see boxes instead of letters. Tapdesk
//! brings the Latin letters. Fonts of other scripts are too large, and every system packages them.

use std::path::Path;

use serde::Serialize;

use crate::kiosk_settings::KioskSettings;
use crate::reader::doctor::{Finding, Kind, Machine, Packages};

/// Languages that need a font of the system: their codes, their names, and the packages of Debian and
/// its relatives that bring one.
const NEEDED: [(&str, &str, &str); 4] = [
    ("ar", "Arabic", "fonts-noto-core"),
    ("he", "Hebrew", "fonts-noto-core"),
    ("ja", "Japanese", "fonts-noto-cjk"),
    ("zh", "Chinese", "fonts-noto-cjk"),
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
    let lacking = needed.filter(|&(language, ..)| has_font(language) == Some(false));
    let named = lacking.map(|(language, _, package)| MissingFont { language, package });
    named.collect()
}

/// The languages without a font on this machine. Blocks.
pub(crate) fn missing_here() -> Vec<MissingFont> {
    missing(has_font)
}

/// The doctor's finding about a kiosk that is set up in this folder; `None` if it lacks no font.
/// Blocks.
pub(crate) fn finding(folder: &Path, machine: Machine) -> Option<Finding> {
    let settings = KioskSettings::stored(folder)?;
    settings.pin.as_ref()?;
    advice(
        &settings.chosen.languages,
        &missing_here(),
        machine.packages,
    )
}

/// Names the missing fonts of the languages that visitors can choose: of all if `offered` is empty.
fn advice(offered: &[String], missing: &[MissingFont], packages: Packages) -> Option<Finding> {
    let is_offered =
        |language: &str| offered.is_empty() || offered.iter().any(|one| one == language);
    let lacking: Vec<_> = NEEDED
        .iter()
        .filter(|(language, ..)| {
            is_offered(language) && missing.iter().any(|font| font.language == *language)
        })
        .collect();
    if lacking.is_empty() {
        return None;
    }
    let names: Vec<_> = lacking.iter().map(|(_, name, _)| *name).collect();
    let mut needed: Vec<_> = lacking.iter().map(|(.., package)| *package).collect();
    // Languages of one package are next to each other.
    needed.dedup();
    let needed = needed.join(" ");
    Some(Finding {
        kind: Kind::NoFont,
        title: format!("The kiosk has no font for {}.", names.join(", ")),
        text: format!(
            "Visitors who choose such a language see boxes instead of letters. Install a font, or turn the \
             language off under Settings, Kiosk. On Debian, the package is {needed}."
        ),
        command: packages.install([needed.as_str(), "", ""]),
    })
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
        let known = |(language, ..): &(&str, &str, &str)| {
            crate::kiosk_settings::language::is_language(language)
        };
        assert!(NEEDED.iter().all(known));
    }

    #[test]
    fn the_doctor_names_the_package_of_a_language_that_is_offered() {
        let missing = missing(|_| Some(false));
        let all = advice(&[], &missing, Packages::Apt).unwrap();
        assert!(all.title.contains("Arabic, Hebrew, Japanese, Chinese"));
        let paste = "sudo apt-get install fonts-noto-core fonts-noto-cjk";
        assert_eq!(all.command.as_deref(), Some(paste));
        assert!(all.kind.is_problem());
        let offered = ["en".to_owned(), "ja".to_owned()];
        let some = advice(&offered, &missing, Packages::Dnf).unwrap();
        assert_eq!(some.title, "The kiosk has no font for Japanese.");
        assert!(some.text.ends_with("the package is fonts-noto-cjk."));
        assert_eq!(some.command, None, "another distribution");
        let fine = [
            advice(&offered[..1], &missing, Packages::Apt),
            advice(&[], &[], Packages::Apt),
        ];
        assert_eq!(fine, [None, None]);
    }

    #[test]
    fn a_computer_without_a_kiosk_needs_no_fonts_for_one() {
        let machine = Machine {
            kernel_driver: false,
            has_daemon: true,
            hides_processes: false,
            packages: Packages::Apt,
        };
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(finding(folder.path(), machine), None);
    }
}
