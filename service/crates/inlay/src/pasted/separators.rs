//! Separators of a query that a program percent-encoded, and marks behind the query. A chip
//! writes its values between plain separators. An owner's own text may have encoded ones, so only
//! those beside a value count.

use super::{CODE_MIN, Note, Reading, VALUE_MIN, has_value, without_fragment};

/// Marks behind the last value: apps append slashes, and a text that was cut or copied with its line
/// end leaves the others. Encoded ones are in small letters.
const MARKS: [&str; 8] = ["/", "&", "=", "+", "%00", "%0a", "%0d", "%20"];

/// The reading with plain separators and without such marks; `None` if there are none.
pub(super) fn read(reading: &Reading) -> Option<Reading> {
    let mut plain = reading.clone();
    let (mut is_decoded, mut is_closed) = (false, false);
    for url in &mut plain.urls {
        if let Some(decoded) = decoded(url) {
            *url = decoded;
            is_decoded = true;
        }
        if let Some(shorter) = without_marks(url) {
            *url = shorter;
            is_closed = true;
        }
    }
    if is_decoded {
        plain.notes.push(Note::Separators);
    }
    if is_closed {
        plain.notes.push(Note::ClosingMarks);
    }
    (is_decoded || is_closed).then_some(plain)
}

/// The URL with plain separators; `None` if no encoded one is beside a value. A URL inside of another
/// one is taken out of it instead.
fn decoded(url: &str) -> Option<String> {
    if url.to_ascii_lowercase().contains("%3a%2f%2f") {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let (rest, fragment) = without_fragment(rest);
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) if has_encoded(query) => (path.to_owned(), query),
        Some(_) => return None,
        // The first separator is encoded, too.
        None => {
            let (path, query) = rest.split_once("%3F").or_else(|| rest.split_once("%3f"))?;
            if !has_value(query) {
                return None;
            }
            (path.replace("%2F", "/").replace("%2f", "/"), query)
        }
    };
    let query = query.replace("%3D", "=").replace("%3d", "=");
    let query = query.replace("%26", "&");
    Some(format!("{scheme}://{path}?{query}{fragment}"))
}

/// Whether a query has an encoded separator directly before or behind a value.
fn has_encoded(query: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let before = |text: &str| {
        let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit);
        digits.count()
    };
    let mut equals = query.match_indices("%3D").chain(query.match_indices("%3d"));
    let mut ands = query.match_indices("%26");
    equals.any(|(at, encoded)| digits(&query[at + encoded.len()..]) >= VALUE_MIN)
        || ands.any(|(at, _)| before(&query[..at]) >= VALUE_MIN)
}

/// The URL without the marks behind its last value; `None` if there are none.
fn without_marks(url: &str) -> Option<String> {
    let (address, fragment) = without_fragment(url);
    let mut open = address;
    while let Some(mark) = MARKS.iter().find(|mark| has_end(open, mark)) {
        open = &open[..open.len() - mark.len()];
    }
    let (_, query) = open.split_once('?')?;
    let last = query.rsplit(['=', '&']).next().unwrap_or_default();
    let is_digit = |b: u8| b.is_ascii_hexdigit() || b == b'x';
    let is_value = last.len() >= CODE_MIN && last.bytes().all(is_digit);
    (is_value && open.len() < address.len()).then(|| format!("{open}{fragment}"))
}

/// Whether a text ends with this mark, in either case.
fn has_end(text: &str, mark: &str) -> bool {
    let end = text.len().checked_sub(mark.len());
    let end = end.and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::readings;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A599F3&c=94EED9EE65337086";

    #[test]
    fn encoded_separators_and_closing_marks_are_read_first_as_plain_ones() {
        for (text, notes) in [
            (URL.replace('&', "%26"), &[Note::Separators][..]),
            (URL.replace('?', "%3F"), &[Note::Separators]),
            (URL.replace('=', "%3d"), &[Note::Separators]),
            (
                URL.replace('?', "%3f")
                    .replace('=', "%3D")
                    .replace('&', "%26"),
                &[Note::Separators],
            ),
            (format!("{URL}/"), &[Note::ClosingMarks]),
            (format!("{URL}&"), &[Note::ClosingMarks]),
            (format!("{URL}%0D%0A"), &[Note::ClosingMarks]),
            (format!("{URL}%20="), &[Note::ClosingMarks]),
            (
                URL.replace('&', "%26") + "//",
                &[Note::Separators, Note::ClosingMarks],
            ),
        ] {
            let readings = readings(&text);
            assert_eq!(readings[0].urls, [URL], "{text}");
            assert_eq!(readings[0].notes, notes, "{text}");
            assert_eq!(readings[1].urls, [&*text]);
        }
        let text = format!("https://urldefense.com/v3/__{URL}__;!!abc$");
        let first = readings(&text).swap_remove(0);
        assert_eq!(first.urls, [URL]);
        assert_eq!(first.notes, [Note::Wrapped]);
        let text = text.replace("__https://", "__https:/");
        assert_eq!(readings(&text)[0].urls, [URL]);
    }

    #[test]
    fn an_owner_s_own_text_stays_encoded() {
        for text in [
            URL.replace("?e", "?t=a%26b%3D1&e"),
            "https://a.example/what%3Fnow".to_owned(),
            "https://a.example/?next=/shop/".to_owned(),
            "https://a.example/v/".to_owned(),
            URL.replace("https://tags", "https://a.example/?u=https%3A%2F%2Ftags")
                .replace('&', "%26"),
        ] {
            assert_eq!(readings(&text).len(), 1, "{text}");
        }
    }
}
