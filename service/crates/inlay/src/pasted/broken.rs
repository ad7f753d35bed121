//! URLs in pieces between spaces and lines: mail breaks long lines, and people copy all pieces.

use super::ends::is_mark;
use super::{has_value, schemes};

/// The URL together with a piece of text behind it; `None` if the piece is no part of it. `behind`
/// is the text between the URL and the white space, which looked like a mark.
pub(super) fn joined(url: &str, behind: &str, piece: &str) -> Option<String> {
    let piece = piece.trim_end_matches(is_mark);
    let (_, address) = url.split_once("://")?;
    let (behind, continues) = if address.contains('#') {
        ("", false)
    } else if address.contains('?') {
        ("", continues_query(piece))
    } else if behind == "?" {
        (behind, continues_query(piece))
    } else if address.contains('/') {
        ("", continues_path(address, piece))
    } else {
        let behind = if behind == "." { "." } else { "" };
        (behind, continues_host(address, behind, piece))
    };
    continues.then(|| format!("{url}{behind}{piece}"))
}

/// Whether a piece can follow in a query: as a value of a chip, or with the next parameter.
fn continues_query(piece: &str) -> bool {
    let is_query = |b: u8| b.is_ascii_alphanumeric() || b"&=_-~%.".contains(&b);
    let of_chip = |b: u8| b.is_ascii_hexdigit() || b == b'x';
    let is_value = piece.len() >= 4 && piece.bytes().all(of_chip);
    piece.bytes().all(is_query) && (is_value || piece.contains('='))
}

/// Whether a piece with the values of a chip can follow in a path, between two segments.
fn continues_path(address: &str, piece: &str) -> bool {
    let is_next = address.ends_with('/') && !schemes::is_address(piece);
    (is_next || piece.starts_with(['/', '?'])) && is_rest(piece)
}

/// Whether a piece with the values of a chip can follow in a host, or behind the scheme.
fn continues_host(host: &str, behind: &str, piece: &str) -> bool {
    let is_open = if behind.is_empty() {
        host.is_empty() || host.ends_with('-')
    } else {
        // A whole name at the end of a sentence has a dot within it.
        !host.is_empty() && !host.contains('.')
    };
    let goes_on = behind.is_empty() && !host.is_empty() && piece.starts_with(['.', ':', '/', '?']);
    (goes_on || is_open && schemes::is_address(piece)) && is_rest(piece)
}

fn is_rest(piece: &str) -> bool {
    has_value(piece) && piece.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::readings;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE65337086";

    #[test]
    fn a_url_is_joined_wherever_a_space_or_a_line_broke_it() {
        for at in [
            "https://", "tags.", "tags", "example", ".com", "com/", "/v", "?", "e=", "EF96", "&",
            "c=",
        ] {
            let cut = URL.find(at).unwrap() + at.len();
            let (start, end) = URL.split_at(cut);
            for between in [" ", "\n", "\r\n", "\n> ", "\t", "\u{A0}", "\n    "] {
                let text = format!("{start}{between}{end}");
                let mut readings = readings(&text).into_iter();
                assert!(readings.any(|reading| reading.urls == [URL]), "{text}");
            }
        }
        // Mail that is not quoted-printable breaks behind any character, too.
        let text = URL.replace("e=", "e=\n");
        let mut readings = readings(&text).into_iter();
        assert!(readings.any(|reading| reading.urls == [URL]), "{text}");
    }

    #[test]
    fn words_and_other_addresses_are_no_pieces() {
        for (url, behind, piece) in [
            (URL, "", "thanks"),
            (
                "https://shop.example",
                ".",
                "tags.example.com/v?e=EF963FF7828658A5",
            ),
            (
                "https://shop.example/",
                "",
                "tags.example.com/v?e=EF963FF7828658A5",
            ),
            ("https://shop.example/a", "", "b?e=EF963FF7828658A5"),
            ("https://shop.example/a#b", "", "c=EF963FF7828658A5"),
        ] {
            assert_eq!(joined(url, behind, piece), None, "{url} {piece}");
        }
        assert_eq!(joined(URL, ".", "d=1."), Some(format!("{URL}d=1")));
    }
}
