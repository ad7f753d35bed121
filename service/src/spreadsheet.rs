//! A cell of a CSV file, safe to open in a spreadsheet.
//!
//! A spreadsheet takes a cell that begins with one of a few characters for a
//! formula, and strangers write variables. Such a text gets an apostrophe in
//! front, and so does one that looks as if it had got one, so that reading
//! takes away exactly what writing added. An empty cell is no text; the empty
//! text is a lone apostrophe.

use std::borrow::Cow;

/// What a spreadsheet takes for the beginning of a formula, or skips before one
/// (OWASP, CSV injection).
const FORMULA: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// A text as a cell.
pub fn encode(text: Option<Cow<'_, str>>) -> Cow<'_, str> {
    match text {
        None => Cow::Borrowed(""),
        Some(text) if is_special(&text) => Cow::Owned(format!("'{text}")),
        Some(text) => text,
    }
}

/// A cell as a text.
pub fn decode(cell: &str) -> Option<&str> {
    if cell.is_empty() {
        return None;
    }
    let escaped = cell.strip_prefix('\'').filter(|text| is_special(text));
    Some(escaped.unwrap_or(cell))
}

/// Whether there is a formula, or nothing, behind any number of apostrophes.
fn is_special(text: &str) -> bool {
    let rest = text.trim_start_matches('\'');
    rest.is_empty() || rest.starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_gets_an_apostrophe() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("'=1", "''=1"),
            ("''=1", "'''=1"),
            ("'quoted'", "'quoted'"),
            ("a=b", "a=b"),
            ("", "'"),
            ("'", "''"),
        ] {
            assert_eq!(encode(Some(text.into())), cell);
            assert_eq!(decode(cell), Some(text));
        }
        assert_eq!((encode(None), decode("")), (Cow::Borrowed(""), None));
    }

    proptest! {
        #[test]
        fn every_text_comes_back_and_no_cell_is_a_formula(text in "['=+@\t\r\n-]{0,4}.{0,8}") {
            let cell = encode(Some(text.as_str().into()));
            prop_assert_eq!(decode(&cell), Some(text.as_str()));
            prop_assert!(!cell.starts_with(FORMULA));
        }
    }
}
