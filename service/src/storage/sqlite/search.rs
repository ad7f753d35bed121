//! Looking for a piece of text, in either case.
//!
//! The index of three-letter pieces (FTS5, tokenizer `trigram`) gives the rows
//! that hold every piece of the text somewhere; the SQL function `holds` tells
//! whether they hold the text.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use crate::id::TagId;
use crate::storage::StorageError;

/// Fewest characters that the index can look for.
const PIECE: usize = 3;

/// Adds `holds(folded, text, ...)` to a connection: whether one of the texts
/// has `folded` in it. `folded` went through [`fold`].
pub(super) fn add_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("holds", -1, flags, |context: &Context<'_>| {
        let folded = context.get_raw(0).as_str().unwrap_or_default();
        let mut texts = (1..context.len()).map(|index| context.get_raw(index).as_str());
        Ok(texts.any(|text| text.is_ok_and(|text| holds(text, folded))))
    })
}

/// `text` in the case in which texts are compared. Each character for itself:
/// how it is written does not hang on its neighbours.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn holds(text: &str, folded: &str) -> bool {
    if text.is_ascii() {
        let piece = folded.as_bytes();
        piece.is_empty()
            || text
                .as_bytes()
                .windows(piece.len())
                .any(|window| window.eq_ignore_ascii_case(piece))
    } else {
        fold(text).contains(folded)
    }
}

/// The index's query for rows that hold every piece of `text`; `None` where
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

/// The newest tag. Those that come have higher ids.
pub(super) fn newest(connection: &Connection) -> Result<TagId, StorageError> {
    let newest = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM tags")?
        .query_row([], |row| row.get(0).map(TagId))?;
    Ok(newest)
}

/// Adds the tags after `newest` to the index.
pub(super) fn add_after(connection: &Connection, newest: TagId) -> Result<(), StorageError> {
    let sql = format!("INSERT INTO tags_search (rowid, name, slug, title) {INDEXED} WHERE id > ?1");
    connection.prepare_cached(&sql)?.execute([newest.0])?;
    Ok(())
}

/// Puts a tag into the index as it is now.
pub(super) fn replace(connection: &Connection, tag: TagId) -> Result<(), StorageError> {
    let sql = format!(
        "INSERT OR REPLACE INTO tags_search (rowid, name, slug, title) {INDEXED} WHERE id = ?1"
    );
    connection.prepare_cached(&sql)?.execute([tag.0])?;
    Ok(())
}

/// What the index takes of tags. Former slugs stand behind the slug.
const INDEXED: &str = "SELECT id, name, slug || coalesce((\
    SELECT group_concat(' ' || f.slug, '') FROM former_slugs f WHERE f.tag_id = tags.id), ''), \
    title FROM tags";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_either_case() {
        for (text, piece, found) in [
            ("Bottle 41", "TTLE", true),
            ("Bottle 41", "ttle 42", false),
            ("ÄPFEL", "äpf", true),
            ("äpfel", "ÄPF", true),
            ("ΟΔΟΣ", "οδοσ", true),
            ("plain", "", true),
            ("", "a", false),
        ] {
            assert_eq!(holds(text, &fold(piece)), found, "{piece} in {text}");
        }
    }

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
