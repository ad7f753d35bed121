//! Brings texts into the form in which they are compared. Each character is converted by itself, so
//! that the form of a text contains the form of each of its parts.

use std::iter;

use unicode_normalization::UnicodeNormalization as _;

/// Converts `text` to lower case. Texts that differ in anything else stay different: this decides
/// whose data an erasure removes.
pub fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The form in which searches compare texts: in lower case, without accents, with ligatures and
/// other variants of a letter spelled as the letters that they stand for.
///
/// Only the accents of Latin, Greek and Cyrillic letters are dropped. In other scripts a combining
/// mark is a letter of its own, such as a vowel of Devanagari or Thai.
pub fn fold(text: &str) -> String {
    // Most texts need no tables.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
            continue;
        }
        let parts = iter::once(letter).nfkd().flat_map(char::to_lowercase);
        for part in parts.filter(|part| !is_accent(*part)) {
            match plain(part) {
                Some(plain) => folded.push_str(plain),
                None => folded.push(part),
            }
        }
    }
    folded
}

fn is_accent(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Letters that Unicode does not take apart, as people type them who do not have them on their
/// keyboard.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' => "d",
        'ı' => "i",
        // The sigma at the end of a word.
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_ligatures_and_case_make_no_difference() {
        for (text, folded) in [
            ("Bottle 41", "bottle 41"),
            ("Grüezi", "gruezi"),
            ("Gru\u{308}ezi", "gruezi"),
            ("CHÂTEAU d’Yquem", "chateau d’yquem"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("Ærø, Łódź, Đuro", "aero, lodz, duro"),
            ("cœur ﬁn", "coeur fin"),
            ("İzmir ıslak", "izmir islak"),
            ("ΟΔΟΣ οδος Ά", "οδοσ οδοσ α"),
            ("Ёлка й", "елка и"),
            ("Ａ１ ²", "a1 2"),
            ("ﾎﾞﾄﾙ", "ホ\u{3099}トル"),
            ("กำ कि", "ก\u{e4d}า कि"),
            ("日本 🍾", "日本 🍾"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
        assert_eq!(fold_case("STRASSE Ä"), "strasse ä");
    }

    #[test]
    fn a_folded_text_stays_as_it_is_and_each_character_is_folded_by_itself() {
        for letter in '\0'..=char::MAX {
            let folded = fold(letter.encode_utf8(&mut [0; 4]));
            assert_eq!(fold(&folded), folded, "{letter:?}");
            let pair: String = ['e', letter, 'e'].into_iter().collect();
            assert_eq!(fold(&pair), format!("e{folded}e"), "{letter:?}");
        }
    }
}
