//! The URLs of a text, and the words between them.

use super::{
    CODE_MIN, Note, Reading, Unusable, Unused, broken, ends, escapes, is_scheme_byte,
    without_repeated,
};

/// The beginnings of web addresses, in small letters.
const WEB: [&str; 3] = ["https://", "http://", "lnurlw://"];

/// Takes the URLs out of a text. With `joins`, pieces after spaces belong to the URL before them if
/// they look like a continuation.
pub(super) fn urls(text: &str, mut reading: Reading, joins: bool) -> Reading {
    if !text.contains("://") {
        reading.urls.push(text.trim().to_owned());
        return reading;
    }
    let (text, are_bracketed) = bracketed(text);
    if are_bracketed {
        reading.notes.push(Note::Spaces);
    }
    let mut is_around = false;
    let mut words = Words::default();
    // The text between the last URL and the white space behind it.
    let mut behind = "";
    for piece in text.split(is_end).filter(|piece| !piece.is_empty()) {
        if !piece.contains("://") {
            let last = reading.urls.last_mut().filter(|_| joins);
            let joined = last.and_then(|url| Some((broken::joined(url, behind, piece)?, url)));
            if let Some((whole, url)) = joined {
                *url = whole;
                behind = "";
                reading.notes.push(Note::Spaces);
            } else {
                words.add(piece);
                is_around = true;
            }
            continue;
        }
        for url in several(piece) {
            let (before, whole) = url.split_at(start(url));
            let end = ends::of_url(before, whole);
            behind = &whole[end.len()..];
            is_around |= !before.is_empty() || !behind.is_empty();
            if escapes::is_shortened(end, behind) {
                reading.notes.push(Note::Shortened);
            }
            words.add(before);
            words.end_in(&mut reading.unused);
            words.add(behind);
            reading.urls.push(end.to_owned());
        }
    }
    words.end_in(&mut reading.unused);
    without_repeated(&mut reading);
    if is_around {
        reading.notes.push(Note::Around);
    }
    reading.notes.dedup();
    reading
}

/// Whether a character stands between the pieces of a text: none of them can be in a URL.
pub(super) fn is_end(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '<' | '>' | '"' | '`' | '|' | '\\' | '«' | '»' | '“' | '”' | '„'
        )
}

/// Whether a text has the beginning of a web address.
pub(super) fn has_web_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    WEB.iter().any(|scheme| lower.contains(scheme))
}

/// The place at which the URL of a piece of text with `://` begins. Apps put a scheme of their own,
/// or another prefix of NDEF, before a whole web address.
fn start(piece: &str) -> usize {
    let lower = piece.to_ascii_lowercase();
    let web = WEB
        .iter()
        .filter_map(|scheme| Some((lower.find(scheme)?, scheme)));
    let Some((mut start, mut scheme)) = web.min() else {
        let address = piece.find("://").unwrap_or_default();
        let scheme = piece.as_bytes()[..address].iter().rev();
        return address - scheme.take_while(|byte| is_scheme_byte(**byte)).count();
    };
    loop {
        let rest = &lower[start + scheme.len()..];
        let rest = rest.strip_prefix("www.").unwrap_or(rest);
        let Some(next) = WEB.iter().find(|scheme| rest.starts_with(**scheme)) else {
            return start;
        };
        start = lower.len() - rest.len();
        scheme = next;
    }
}

/// The words between two URLs of a text.
#[derive(Default)]
struct Words(String);

impl Words {
    fn add(&mut self, piece: &str) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0 += piece;
    }

    /// Ends the piece of text that has these words. Punctuation is none.
    fn end_in(&mut self, unused: &mut Vec<Unused>) {
        let words = std::mem::take(&mut self.0);
        let words = words.trim_matches(|c: char| !c.is_alphanumeric());
        if !words.is_empty() {
            unused.push(Unused::new(words, Unusable::Words));
        }
    }
}

/// The text without the white space inside of `<...>`, which belongs to no URL (RFC 3986,
/// appendix C), and whether there was any.
fn bracketed(text: &str) -> (String, bool) {
    let mut whole = String::new();
    let mut is_changed = false;
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<')
        && let Some((inside, after)) = behind.split_once('>')
    {
        let scheme = inside.trim_start().split_once("://");
        let is_url = scheme.is_some_and(|(scheme, rest)| {
            scheme.bytes().all(is_scheme_byte) && !rest.contains("://")
        });
        whole += before;
        whole.push('<');
        if is_url {
            let inside = inside.trim();
            is_changed |= inside.contains(char::is_whitespace);
            whole.extend(inside.split_whitespace());
        } else {
            whole += inside;
        }
        whole.push('>');
        rest = after;
    }
    (whole + rest, is_changed)
}

/// The URLs of a piece of text without white space: a list has commas between them, and a link in
/// Markdown has brackets. Behind a value of a chip any mark, or none, ends a URL.
fn several(piece: &str) -> Vec<&str> {
    let mut urls = Vec::new();
    let mut rest = piece;
    let lower = piece.to_ascii_lowercase();
    // `rest` is the end of `piece`.
    let begins = |rest: &str| {
        let rest = &lower[lower.len() - rest.len()..];
        rest.starts_with("http://") || rest.starts_with("https://")
    };
    while let Some((at, _)) = rest.match_indices(['h', 'H']).find(|&(at, _)| {
        let before = &rest[..at];
        let is_next = before.ends_with([',', ';', '(']) || ends_with_value(before);
        is_next && before.contains("://") && begins(&rest[at..])
    }) {
        let mut url = &rest[..at];
        if ends_with_value(url) {
            url = url.trim_end_matches(['/', '&', '+']);
        }
        urls.push(url);
        rest = &rest[at..];
    }
    urls.push(rest);
    urls
}

/// Whether a text ends with a value of a chip, and marks behind it.
fn ends_with_value(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit);
    digits.count() >= CODE_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE65337086";

    fn urls_of(text: &str) -> Vec<String> {
        urls(text, Reading::default(), false).urls
    }

    #[test]
    fn several_urls_of_chips_need_no_space_between_them() {
        let other = URL.replace("94EE", "94EF");
        for between in ["", "/", "&", "+", "'", "…", ".", "|", ";", "),("] {
            let text = format!("{URL}{between}{other}");
            assert_eq!(urls_of(&text), [URL, &other], "{between}");
        }
    }

    #[test]
    fn a_web_address_begins_behind_the_prefix_of_an_app() {
        for before in [
            "U",
            "url:",
            "tel:",
            "NFC://",
            "android-app://",
            "intent://",
            "http://",
            "http://www.",
            "https://http://",
            "myapp://open?url=",
            "view-source:",
            "‘",
        ] {
            assert_eq!(urls_of(&format!("{before}{URL}")), [URL], "{before}");
        }
        let nested = format!("https://a.example/?to={URL}");
        assert_eq!(urls_of(&nested), [nested]);
        let other = "myprefix://uid=04494ACAFD1990&ctr=00001E";
        assert_eq!(urls_of(other), [other]);
    }
}
