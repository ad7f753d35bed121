//! Text comparison for searches: ignores case, and matches any part of a text.

/// Converts `text` to the case in which texts are compared. Each character is converted by itself,
/// so the result does not depend on neighbouring characters.
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// A pattern for `LIKE ... ESCAPE '\'` that matches folded texts containing `text`.
pub(super) fn containing(text: &str) -> String {
    let folded = fold(text);
    let escaped = folded
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

/// Fewest characters that SQLite's index can find.
const PIECE: usize = 3;

/// A query for SQLite's index (FTS5, tokenizer `trigram`) that matches rows containing every
/// three-character piece of `text`; `None` if `text` is too short for the index.
pub(super) fn pieces(text: &str) -> Option<String> {
    let characters: Vec<char> = text.chars().collect();
    let quoted = characters.windows(PIECE).map(|piece| {
        let piece = piece.iter().collect::<String>().replace('"', "\"\"");
        format!("\"{piece}\"")
    });
    let quoted: Vec<String> = quoted.collect();
    (!quoted.is_empty()).then(|| quoted.join(" AND "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_three_letters_is_asked_for() {
        assert_eq!(pieces("ab"), None);
        assert_eq!(pieces("äbc").as_deref(), Some("\"äbc\""));
        assert_eq!(
            pieces("a\"b*").as_deref(),
            Some("\"a\"\"b\" AND \"\"\"b*\"")
        );
    }
}
