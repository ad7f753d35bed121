//! Texts that a spreadsheet will open: it must show them, and run none of them.

use std::borrow::Cow;

/// `text` for a cell of a CSV file. Where a spreadsheet would take it for a
/// formula, an apostrophe before it says that it is text (OWASP, "CSV Injection").
pub fn cell(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_formula_becomes_text_and_text_stays_as_it_is() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert_eq!(cell(formula), format!("'{formula}"));
        }
        for text in ["", "Bottle 41", "a=b", "'quoted"] {
            assert_eq!(cell(text), text);
        }
    }
}
