//! Languages that visitors can choose: those of Tapdesk's pages, in `ui/src/kiosk/words.json`.

/// The codes of all languages, in the order in which the kiosk lists them.
const ALL: [&str; 12] = [
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "ar", "he", "ja", "zh",
];

/// Whether the kiosk has words in this language.
pub(crate) fn is_language(code: &str) -> bool {
    ALL.contains(&code)
}

/// Checks the owner's languages: each is known, and is listed once. An `Err` is a sentence for
/// people.
pub(super) fn checked(languages: Vec<String>) -> Result<Vec<String>, String> {
    let mut listed: Vec<String> = Vec::new();
    for code in languages {
        if !is_language(&code) {
            return Err(format!("The kiosk has no words in the language “{code}”."));
        }
        if !listed.contains(&code) {
            listed.push(code);
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_those_of_the_page() {
        let words = include_str!("../../../ui/src/kiosk/words.json");
        let words: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(words).unwrap();
        assert_eq!(words.len(), ALL.len());
        assert!(words.keys().all(|code| is_language(code)));
    }

    #[test]
    fn languages_keep_their_order_and_are_listed_once() {
        let chosen = |codes: &[&str]| checked(codes.iter().map(ToString::to_string).collect());
        assert_eq!(chosen(&["fr", "de", "fr"]).unwrap(), ["fr", "de"]);
        assert!(chosen(&["fr", "tlh"]).is_err());
    }
}
