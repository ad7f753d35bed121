//! Finds a part of a text, ignoring case.
//!
//! The index of three-character pieces (FTS5, tokenizer `trigram`) returns the rows that contain
//! every piece of the text in any place; the SQL function `holds` checks whether they contain the
//! text.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use crate::StorageError;
use crate::search::fold;
use crate::shared::tags::INDEXED_TAGS;

/// Adds the function `holds(folded, text, ...)` to a connection: whether one of the texts contains
/// `folded`, which is an output of [`fold`].
pub(crate) fn add_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("holds", -1, flags, |context: &Context<'_>| {
        let folded = context.get_raw(0).as_str().unwrap_or_default();
        let mut texts = (1..context.len()).map(|index| context.get_raw(index).as_str());
        Ok(texts.any(|text| text.is_ok_and(|text| holds(text, folded))))
    })
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

/// The id of the newest tag; 0 if there are no tags. Later tags have higher ids.
pub(super) fn newest(connection: &Connection) -> Result<i64, StorageError> {
    let newest = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM tags")?
        .query_row([], |row| row.get(0))?;
    Ok(newest)
}

/// Adds the tags after `newest` to the index.
pub(super) fn add_after(connection: &Connection, newest: i64) -> Result<(), StorageError> {
    let sql =
        format!("INSERT INTO tags_search (rowid, name, slug, title) {INDEXED_TAGS} WHERE id > ?1");
    connection.prepare_cached(&sql)?.execute([newest])?;
    Ok(())
}

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
}
