//! Codes in a text, such as serial numbers and lots: they are searched as they are written, and without
//! their separators.

use std::collections::BTreeSet;

/// Most letters and digits of a code that is searchable without its separators. Longer words are
/// addresses, and would double the text of each tag that has one.
const CODE_MAX: usize = 40;

/// The parts of a searchable text, and the codes in them without their separators.
pub(crate) fn with_codes(mut parts: Vec<String>) -> Vec<String> {
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    let codes: BTreeSet<String> = words.filter_map(without_separators).collect();
    parts.extend(codes);
    parts
}

/// The letters and digits of a word with digits and separators between them: people read
/// `SN-2026-0815` on a bottle, and type `20260815`. `None` for any other word, which is found as it
/// is.
fn without_separators(word: &str) -> Option<String> {
    let code: String = word.chars().filter(|one| one.is_alphanumeric()).collect();
    let is_code = !word.contains(&code)
        && code.chars().any(char::is_numeric)
        && code.chars().count() <= CODE_MAX;
    is_code.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_digits_and_separators_is_a_code() {
        let (longest, longer) = ("-1".repeat(CODE_MAX), "-1".repeat(CODE_MAX + 1));
        let of_longest = "1".repeat(CODE_MAX);
        for (word, code) in [
            ("sn-2026-0815", Some("sn20260815")),
            ("2026/08.15_a", Some("20260815a")),
            ("k3v9qa", None),
            ("saint-georges", None),
            ("--", None),
            ("(2026).", None),
            (longest.as_str(), Some(of_longest.as_str())),
            (longer.as_str(), None),
        ] {
            assert_eq!(without_separators(word).as_deref(), code, "{word}");
        }
    }
}
