//! A cell of a CSV file, safe to open in a spreadsheet.
//!
//! A spreadsheet reads a cell that begins with one of a few characters as a formula, and strangers
//! write variables. Such a text gets an apostrophe in front. A text that looks as if it already had
//! that apostrophe gets one, too, so that reading removes exactly the characters that writing
//! added. An empty cell means no text; a lone apostrophe is the empty text. Two words in brackets
//! have a meaning that no text can have; a text that equals one of them gets an apostrophe, too.

use std::borrow::Cow;

/// The characters that begin a formula in a spreadsheet, or are skipped before one (OWASP, CSV
/// injection).
const FORMULA: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// The cell for an absent value.
pub const ABSENT: &str = "(none)";
/// The cell that asks for something to be deleted.
pub const DELETE: &str = "(delete)";

/// The meaning of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// An empty cell: no text.
    Empty,
    /// [`ABSENT`]: there is no value.
    Absent,
    /// [`DELETE`]: the present value is to be deleted.
    Delete,
    /// A text, which can be empty.
    Text(String),
}

impl Cell {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The cell as it is written to a file.
    pub fn encode(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => encode(None),
            Self::Absent => ABSENT.into(),
            Self::Delete => DELETE.into(),
            Self::Text(text) => encode(Some(text.into())),
        }
    }

    /// Reads a cell of a file.
    pub fn decode(cell: &str) -> Self {
        if cell.is_empty() {
            Self::Empty
        } else if is_word(cell, ABSENT) {
            Self::Absent
        } else if is_word(cell, DELETE) {
            Self::Delete
        } else {
            let escaped = cell.strip_prefix('\'').filter(|text| is_special(text));
            Self::Text(escaped.unwrap_or(cell).to_owned())
        }
    }
}

/// A text as a cell.
pub fn encode(text: Option<Cow<'_, str>>) -> Cow<'_, str> {
    match text {
        None => Cow::Borrowed(""),
        Some(text) if is_special(&text) => Cow::Owned(format!("'{text}")),
        Some(text) => text,
    }
}

/// Whether people who write `cell` mean `word`.
fn is_word(cell: &str, word: &str) -> bool {
    cell.trim().eq_ignore_ascii_case(word)
}

/// Whether a formula, a word or an empty text follows any number of apostrophes.
fn is_special(text: &str) -> bool {
    let rest = text.trim_start_matches('\'');
    rest.is_empty()
        || rest.starts_with(FORMULA)
        || [ABSENT, DELETE].iter().any(|word| is_word(rest, word))
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
            assert_eq!(Cell::decode(cell), Cell::Text(text.to_owned()));
        }
        assert_eq!(
            (encode(None), Cell::decode("")),
            (Cow::Borrowed(""), Cell::Empty)
        );
    }

    #[test]
    fn a_word_is_no_text_and_a_text_no_word() {
        for (cell, says) in [
            ("(none)", Cell::Absent),
            (" (None) ", Cell::Absent),
            ("(delete)", Cell::Delete),
            ("(DELETE)", Cell::Delete),
            ("'(delete)", Cell::Text("(delete)".to_owned())),
            ("''(none)", Cell::Text("'(none)".to_owned())),
            ("delete", Cell::Text("delete".to_owned())),
            ("(deleted)", Cell::Text("(deleted)".to_owned())),
        ] {
            assert_eq!(Cell::decode(cell), says, "{cell}");
            assert_eq!(Cell::decode(&says.encode()), says, "{cell}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_and_no_cell_is_a_formula(text in "['=+@\t\r\n-]{0,4}(.{0,8}| ?\\((none|NONE|delete|Delete)\\) ?)") {
            let cell = encode(Some(text.as_str().into()));
            prop_assert_eq!(Cell::decode(&cell), Cell::Text(text.clone()));
            prop_assert!(!cell.starts_with(FORMULA));
        }
    }
}
