//! Cells that people protect from a spreadsheet, so that it does not turn them into numbers.

/// A cell without blanks and invisible characters around it. Other programs copy marks of direction
/// with a text.
pub fn visible(cell: &str) -> &str {
    cell.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

/// The text in a protected cell: `="1042"`, or with an apostrophe before it. `None` if the cell is
/// not protected.
pub fn protected(cell: &str) -> Option<&str> {
    let cell = visible(cell);
    let formula = cell.strip_prefix("=\"");
    let formula = formula.and_then(|rest| rest.strip_suffix('"'));
    formula.or_else(|| cell.strip_prefix('\'')).map(visible)
}

/// The text that a person means with a cell, protected or not.
pub(super) fn meant(cell: &str) -> &str {
    protected(cell).unwrap_or_else(|| visible(cell))
}

/// Whether a character has no width: a mark of direction, or a joiner.
pub(super) const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}
