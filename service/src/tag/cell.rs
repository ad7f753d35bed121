//! A cell of a CSV file, safe to open in a spreadsheet.
//!
//! A spreadsheet takes a cell that begins with one of a few characters for a
//! formula, and strangers write variables. Such a text gets an apostrophe in
//! front, and so does one that looks as if it had got one, so that reading
//! takes away exactly what writing added. An empty cell is no text; the empty
//! text is a lone apostrophe. Two words in brackets say what no text can; a text
//! that is one of them gets an apostrophe, too.

use std::borrow::Cow;

/// What a spreadsheet takes for the beginning of a formula, or skips before one
/// (OWASP, CSV injection).
const FORMULA: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// The cell of what is absent.
pub const ABSENT: &str = "(none)";
/// The cell that asks for something to be deleted.
pub const DELETE: &str = "(delete)";

/// What a cell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// That there is nothing.
    Absent,
    /// That what is there is to be deleted.
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

    /// As it stands in a file.
    pub fn encode(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => encode(None),
            Self::Absent => ABSENT.into(),
            Self::Delete => DELETE.into(),
            Self::Text(text) => encode(Some(text.into())),
        }
    }

    /// As a file has it.
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

/// Whether there is a formula, a word or nothing, behind any number of apostrophes.
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
