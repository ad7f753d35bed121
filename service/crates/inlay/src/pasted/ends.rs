//! Where a URL ends within a text: sentences, Markdown and forums put marks directly behind it.

use super::VALUE_MIN;

/// Whether a character ends a sentence, or closes brackets or quotation marks. No URL ends with it.
pub(super) fn is_mark(c: char) -> bool {
    ".,;:!?'()[]{}*".contains(c) || is_wide_mark(c)
}

/// Whether this is punctuation outside of ASCII: dashes, ellipses, quotation marks, and those of
/// East Asian scripts. Addresses have none in a path.
const fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '·' | '\u{2010}'..='\u{205E}'
            | '\u{3000}'..='\u{303F}'
            | '\u{FF01}'..='\u{FF0F}'
            | '\u{FF1A}'..='\u{FF20}'
            | '\u{FF3B}'..='\u{FF40}'
            | '\u{FF5B}'..='\u{FF65}'
    )
}

/// The URL at the beginning of a text without white space. `before` is the text in front of it.
pub(super) fn of_url<'t>(before: &str, text: &'t str) -> &'t str {
    let whole = &text[..foreign(text)];
    let mut end = whole.trim_end_matches(is_mark);
    // The bracket that closes an IPv6 address.
    if has_open_address(end) && whole[end.len()..].starts_with(']') {
        end = &whole[..=end.len()];
    }
    // Markdown has the same mark on both sides.
    for mark in ['_', '~'] {
        if before.ends_with(mark) {
            end = end.trim_end_matches(mark);
        }
    }
    end
}

fn has_open_address(url: &str) -> bool {
    let address = url.split_once("://").map_or("", |(_, address)| address);
    address.starts_with('[') && !address.contains(']')
}

/// The place of the first character behind the host and the values of a chip that cannot be in a
/// URL: a bracket, a mark, or a letter that is not ASCII behind the `?`. Texts in Chinese and
/// Japanese go on without a space.
fn foreign(text: &str) -> usize {
    let address = text.find("://").map_or(0, |at| at + "://".len());
    let host = text[address..].find(['/', '?', '#']);
    let host = host.map_or(text.len(), |at| address + at);
    let query = text.find('?').unwrap_or(text.len());
    let start = host.max(last_value(text));
    let is_foreign = |&(at, c): &(usize, char)| {
        // An ellipsis says that a program shortened the URL.
        let is_letter = at > query && !c.is_ascii();
        at >= start && c != '…' && (matches!(c, '[' | ']') || is_wide_mark(c) || is_letter)
    };
    let found = text.char_indices().find(is_foreign);
    found.map_or(text.len(), |(at, _)| at)
}

/// The end of the last value of a chip; 0 if there is none.
fn last_value(text: &str) -> usize {
    let (mut last, mut run) = (0, 0);
    for (at, byte) in text.bytes().enumerate() {
        run = if byte.is_ascii_hexdigit() { run + 1 } else { 0 };
        if run >= VALUE_MIN {
            last = at + 1;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE65337086";

    #[test]
    fn marks_behind_a_url_are_no_part_of_it() {
        for behind in [
            "",
            ".",
            "...",
            "…",
            ")",
            ").",
            "]",
            "'",
            "’",
            "”",
            "–",
            "。",
            "，请",
            "。谢谢",
            "）",
            "」",
            "][tap]",
            "]tap[/url]",
            "[/url]",
            "**",
        ] {
            assert_eq!(of_url("", &format!("{URL}{behind}")), URL, "{behind}");
        }
        for mark in ["_", "__", "~~"] {
            assert_eq!(of_url(mark, &format!("{URL}{mark}")), URL);
            let own = format!("{URL}{mark}");
            assert_eq!(of_url("", &own), own);
        }
        let fixed = "https://tags.example.com/t/k3v9qa";
        assert_eq!(of_url("", &format!("{fixed}。谢谢")), fixed);
    }

    #[test]
    fn brackets_and_letters_of_a_url_are_part_of_it() {
        for url in [
            "http://[2001:db8::1]:8080/v?e=EF963FF7828658A5",
            "http://[2001:db8::1]",
            "https://tags.example.com/v?tag[id]=ü&e=EF963FF7828658A5",
            "https://tür.example/für/k3v9qa",
        ] {
            assert_eq!(of_url("", url), url);
            assert_eq!(of_url("(", &format!("{url}).")), url);
        }
    }
}
