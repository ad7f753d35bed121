//! How texts are compared in a search: in one case, and for any piece of them.

/// `text` in the case in which texts are compared. Each character for itself:
/// how it is written does not hang on its neighbours.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The pattern of `LIKE ... ESCAPE '\'` for folded texts that have `text` in them.
pub(super) fn containing(text: &str) -> String {
    let folded = fold(text);
    let escaped = folded
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

/// Fewest characters that SQLite's index can look for.
const PIECE: usize = 3;

/// The query of SQLite's index (FTS5, tokenizer `trigram`) for rows that hold every piece of `text`; `None` where
/// `text` is too short for the index.
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
