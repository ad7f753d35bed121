//! Text comparison for searches: ignores case and accents, and matches any part of a text.

mod codes;
mod fold;
mod runs;

use std::collections::BTreeSet;

pub(crate) use codes::with_codes;
pub use fold::{fold, fold_case};
use inlay::Uid;
pub use runs::with_runs;

/// The words of a search, folded, each once. Every one of them must be found.
pub fn words(search: &str) -> Vec<String> {
    // Folding can turn a character into a space and more.
    let folded = fold(search);
    let words = folded
        .split(is_between_words)
        .filter(|word| !word.is_empty());
    let words: Vec<_> = words.collect();
    let mut once = BTreeSet::new();
    words
        .chunk_by(|one, next| is_byte(one) && is_byte(next))
        .flat_map(|run| match run.len() {
            UID_BYTES_MIN..=Uid::LENGTH => vec![run.join(" ")],
            _ => run.iter().map(|word| (*word).to_owned()).collect(),
        })
        .filter(|word| once.insert(word.clone()))
        .collect()
}

/// Fewest bytes with spaces between them that are one word, a part of a UID as labels and readers
/// show it. Two or three could be sizes or numbers.
const UID_BYTES_MIN: usize = 4;

/// Whether a word is two hexadecimal digits.
fn is_byte(word: &str) -> bool {
    word.len() == 2 && word.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Whether `search` has nothing but space, and so does not restrict what is found.
pub fn is_blank(search: &str) -> bool {
    search.chars().all(is_between_words)
}

fn is_between_words(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control()
}

/// A pattern for `LIKE ... ESCAPE '\'` that matches texts containing `part`.
pub(super) fn containing(part: &str) -> String {
    let escaped = part
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

/// Fewest characters that SQLite's index can find.
const PIECE: usize = 3;

/// A query for SQLite's index (FTS5, tokenizer `trigram`) that matches rows with every piece of at
/// least one text of each of `all`; `of` are the pieces of a text. `None` if the index cannot tell
/// anything about them.
pub(super) fn pieces(all: &[Vec<&str>], of: impl Fn(&str) -> BTreeSet<String>) -> Option<String> {
    let (mut terms, mut choices) = (BTreeSet::new(), Vec::new());
    for texts in all {
        let of_texts: Vec<_> = texts.iter().copied().map(&of).collect();
        match &of_texts[..] {
            [of_text] => terms.extend(of_text.iter().cloned()),
            // A text that is too short for the index could be in any row.
            of_texts if of_texts.iter().any(BTreeSet::is_empty) => {}
            of_texts => choices.push(format!("({})", any(of_texts))),
        }
    }
    let terms: Vec<String> = terms.into_iter().chain(choices).collect();
    (!terms.is_empty()).then(|| terms.join(" AND "))
}

/// The pieces of a part of a UID, each quoted for the index: all of three digits.
pub(super) fn of_uid(part: &str) -> BTreeSet<String> {
    let characters: Vec<char> = part.chars().collect();
    let pieces = characters.windows(PIECE);
    pieces
        .map(|piece| quoted(&piece.iter().collect::<String>()))
        .collect()
}

/// The pieces of a part of a tag's text, each quoted for the index: all of three characters, and
/// those of runs.
pub(super) fn of_text(part: &str) -> BTreeSet<String> {
    let mut pieces = of_uid(part);
    pieces.extend(runs::runs(part).iter().map(|run| quoted(run)));
    pieces
}

/// The pieces of the runs in a part of a tag's text, one after the other; `None` if it has none.
pub(super) fn runs_of(part: &str) -> Option<String> {
    let runs: String = runs::runs(part).into_iter().collect();
    (!runs.is_empty()).then_some(runs)
}

fn quoted(piece: &str) -> String {
    format!("\"{}\"", piece.replace('"', "\"\""))
}

/// A query that matches rows with all pieces of one of the texts.
fn any(of_texts: &[BTreeSet<String>]) -> String {
    let all = of_texts.iter().map(|pieces| {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        format!("({})", pieces.join(" AND "))
    });
    all.collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_at_space_and_at_control_characters() {
        assert_eq!(
            words(" Ab\tcd\u{1f}é\u{a0}x\u{a8}AB "),
            ["ab", "cd", "e", "x"]
        );
        assert_eq!(words("04 de 04 de bottle"), ["04 de 04 de", "bottle"]);
        assert_eq!(words("04 de 04 bottle"), ["04", "de", "bottle"]);
        assert_eq!(words("1 04 de 5f 1e 4g"), ["1", "04 de 5f 1e", "4g"]);
        let longer_than_a_uid = "00 11 22 33 44 55 66 77";
        assert_eq!(words(longer_than_a_uid).len(), 8);
        assert!(words("\u{301}").is_empty() && words(" \n").is_empty());
        assert!(is_blank(" \u{a0}\u{1f}") && is_blank("") && !is_blank(" \u{301}"));
    }

    #[test]
    fn every_piece_of_three_letters_is_asked_for_once() {
        for (all, query) in [
            (vec![vec!["ab"]], None),
            (vec![], None),
            (vec![vec!["äbc"]], Some("'äbc'")),
            (
                vec![vec!["9999"], vec!["x"]],
                Some("'\u{1e}9\u{4}' AND '999'"),
            ),
            (
                vec![vec!["a*bc"], vec!["abc"]],
                Some("'*bc' AND 'a*b' AND 'abc'"),
            ),
            (
                vec![vec!["abcd", "efg"], vec!["hij"]],
                Some("'hij' AND (('abc' AND 'bcd') OR ('efg'))"),
            ),
            (vec![vec!["abc", "x"], vec!["hij"]], Some("'hij'")),
        ] {
            let query = query.map(|query| query.replace('\'', "\""));
            assert_eq!(pieces(&all, of_text), query, "{all:?}");
        }
        let quotes = pieces(&[vec!["a\"b"]], of_text);
        assert_eq!(quotes.as_deref(), Some("\"a\"\"b\""));
        let digits = pieces(&[vec!["00004"]], of_uid);
        assert_eq!(digits.as_deref(), Some("\"000\" AND \"004\""));
    }
}
