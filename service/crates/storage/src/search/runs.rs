//! Runs of one letter, such as the nines of `999999`. All pieces of three letters of a run are the
//! same, so an index of pieces has every text with `999` as a candidate. A piece for its length
//! tells runs apart.

use std::collections::BTreeSet;

/// Begins the piece of a run. No word contains it, because it is a control character.
const RUN: char = '\u{1e}';
/// Fewest letters of a run that has a piece.
const SHORTEST: u8 = 4;
/// Letters of the longest run that has a piece of its own. Longer ones are rare.
const LONGEST: u8 = 8;

/// The pieces of all runs in a text, and of the shorter runs in each.
pub(super) fn runs(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut before, mut length) = (None, 0);
    for letter in text.chars() {
        length = if before == Some(letter) {
            length + 1
        } else {
            1
        };
        before = Some(letter);
        if (SHORTEST..=LONGEST).contains(&length) && !letter.is_control() {
            // The length is a control character, too.
            found.insert([RUN, letter, char::from(length)].iter().collect());
        }
        length = length.min(LONGEST);
    }
    found
}

/// A searchable text of parts between `between`, with the pieces of its runs as a last part. Each
/// piece also ends where a run could begin, so that PostgreSQL can take the part apart.
pub fn with_runs(mut text: String, between: char) -> String {
    let runs = runs(&text);
    if !runs.is_empty() {
        text.extend(runs);
        text.extend([RUN, between]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_piece_for_each_length_from_four_to_eight() {
        let pieces = |text: &str| runs(text).into_iter().collect::<Vec<_>>();
        assert!(pieces("1000 aab aab \u{1f}\u{1f}\u{1f}\u{1f}").is_empty());
        assert_eq!(pieces("éééé"), ["\u{1e}é\u{4}"]);
        assert_eq!(
            pieces("00000 1111 0000"),
            ["\u{1e}0\u{4}", "\u{1e}0\u{5}", "\u{1e}1\u{4}"]
        );
        let lengths = ["\u{4}", "\u{5}", "\u{6}", "\u{7}", "\u{8}"];
        let all = lengths.map(|length| format!("\u{1e}9{length}"));
        assert_eq!(pieces(&"9".repeat(8)), all);
        assert_eq!(pieces(&"9".repeat(400)), all);
    }

    #[test]
    fn a_text_with_a_run_contains_the_pieces_of_each_part_of_it() {
        let text = with_runs("\u{1f}sn-100000\u{1f}".to_owned(), '\u{1f}');
        for part in ["0000", "100000", "-100000\u{1f}"] {
            assert!(
                runs(part).iter().all(|piece| text.contains(piece)),
                "{part}"
            );
        }
        assert!(!text.contains(runs("000000").last().unwrap()));
        assert!(text.ends_with("\u{1f}\u{1e}0\u{4}\u{1e}0\u{5}\u{1e}\u{1f}"));
        let plain = "\u{1f}sn-1000\u{1f}".to_owned();
        assert_eq!(with_runs(plain.clone(), '\u{1f}'), plain);
    }
}
