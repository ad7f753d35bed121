//! Texts of strangers in messages, which cannot look like lines of their own.

/// A text with a space for each character that ends a line or turns the direction of writing.
pub(super) fn one_line(text: &str) -> String {
    let breaks = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{61c}'
                    | '\u{200e}'
                    | '\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2066}'..='\u{2069}'
            )
    };
    text.chars()
        .map(|c| if breaks(c) { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_line_or_turns_the_direction_of_writing() {
        let text = "a\r\nb\u{1b}c\u{2028}d\u{202e}e\u{2066}f\u{200f}g\u{61c}\u{85}é";
        assert_eq!(one_line(text), "a  b c d e f g  é");
    }
}
