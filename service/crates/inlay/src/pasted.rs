//! URLs in a text that somebody pasted. Mail, chats and web pages change URLs: `&amp;` for `&`,
//! `=3D` for `=`, lines that end with `=`, brackets around the URL and a full stop after it. No
//! chip writes any of these.

use std::borrow::Cow;
use std::fmt;

/// A way to read the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The URLs, each once, in order of appearance. If the text has no `://`, the whole text is one
    /// URL.
    pub urls: Vec<String>,
    /// The differences between the URLs and the text.
    pub notes: Vec<Note>,
}

/// A difference between a text and the URLs that were read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// `&amp;` and similar entities were read as the characters that they stand for.
    Entities,
    /// `=3D` was read as `=`.
    QuotedPrintable,
    /// A line that ended with `=` was read with the next one.
    SoftBreak,
    /// The pieces of a URL between spaces or lines were put together.
    Spaces,
    /// Text around the URLs was left out.
    Around,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entities => "\"&amp;\" was read as \"&\": web pages write it so, chips do not.",
            Self::QuotedPrintable => "\"=3D\" was read as \"=\": mail writes it so, chips do not.",
            Self::SoftBreak => "Lines that mail broke behind \"=\" were put together.",
            Self::Spaces => "The pieces of a URL between spaces were put together.",
            Self::Around => "The text beside the URL was left out.",
        })
    }
}

/// The ways to read the text, the likeliest first; there is at least one. Only one of them can be
/// right: a value of a chip may begin with `3D`, and a word next to a URL may look like a piece of
/// it.
pub fn readings(text: &str) -> Vec<Reading> {
    let text = text.replace("\r\n", "\n");
    let mut notes = Vec::new();
    let text = noted(&mut notes, Note::SoftBreak, soft_breaks(&text));
    let text = noted(&mut notes, Note::Entities, entities(&text));
    let plain = Reading {
        urls: Vec::new(),
        notes,
    };
    let raw = split(&text, plain.clone(), false);
    let mut readings = vec![raw];
    if let Some(decoded) = quoted_printable(&readings[0].urls) {
        // One value can begin with 3D by chance, but hardly two of them.
        let is_clear = decoded.values > 1 || plain.notes.contains(&Note::SoftBreak);
        let mut notes = readings[0].notes.clone();
        notes.push(Note::QuotedPrintable);
        let urls = decoded.urls;
        let at = usize::from(!is_clear);
        readings.insert(at, Reading { urls, notes });
    }
    let joined = split(&text, plain, true);
    if joined.urls != readings[0].urls && joined.notes.contains(&Note::Spaces) {
        readings.push(joined);
    }
    readings
}

/// Records that a text was changed.
fn noted(notes: &mut Vec<Note>, note: Note, (text, is_changed): (String, bool)) -> String {
    if is_changed {
        notes.push(note);
    }
    text
}

/// Lines that mail broke, put together (RFC 2045, section 6.7). A URL can end with `=`: then the
/// next line begins another one.
fn soft_breaks(text: &str) -> (String, bool) {
    let mut whole = String::new();
    let mut is_changed = false;
    let mut rest = text;
    while let Some((line, next)) = rest.split_once("=\n") {
        let scheme = next.trim_start().split_once("://");
        let begins_another = scheme.is_some_and(|(scheme, _)| scheme.bytes().all(is_scheme_byte));
        whole += line;
        if begins_another || next.is_empty() {
            whole += "=\n";
        } else {
            is_changed = true;
        }
        rest = next;
    }
    (whole + rest, is_changed)
}

/// Replaces the entities that HTML uses for characters of a URL. Some programs escape twice, so
/// this is repeated.
fn entities(text: &str) -> (String, bool) {
    const ENTITIES: [(&str, &str); 12] = [
        ("&amp;", "&"),
        ("&#38;", "&"),
        ("&#038;", "&"),
        ("&#x26;", "&"),
        ("%26amp%3b", "&"),
        ("%26amp;", "&"),
        ("&#61;", "="),
        ("&#x3d;", "="),
        ("&equals;", "="),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ];
    let mut text = Cow::Borrowed(text);
    let mut is_changed = false;
    // Each round makes the text shorter.
    loop {
        let lower = text.to_ascii_lowercase();
        let found = ENTITIES
            .iter()
            .find_map(|(entity, character)| Some((lower.find(entity)?, *entity, *character)));
        let Some((at, entity, character)) = found else {
            return (text.into_owned(), is_changed);
        };
        let (before, after) = (&text[..at], &text[at + entity.len()..]);
        text = Cow::Owned(format!("{before}{character}{after}"));
        is_changed = true;
    }
}

/// URLs whose `=3D` were decoded to `=`.
struct Decoded {
    urls: Vec<String>,
    /// How many `=3D` there were.
    values: usize,
}

/// The URLs without `=3D`, if each of their `=` is written so.
fn quoted_printable(urls: &[String]) -> Option<Decoded> {
    let is_quoted = |rest: &str| {
        rest.get(..2)
            .is_some_and(|code| code.eq_ignore_ascii_case("3D"))
    };
    let mut values = 0;
    for url in urls {
        for (at, _) in url.match_indices('=') {
            if !is_quoted(&url[at + 1..]) {
                return None;
            }
            values += 1;
        }
    }
    let decoded = |url: &String| url.replace("=3D", "=").replace("=3d", "=");
    (values > 0).then(|| Decoded {
        urls: urls.iter().map(decoded).collect(),
        values,
    })
}

const fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Takes the URLs out of a text. With `joins`, pieces after spaces belong to the URL before them if
/// they look like a continuation.
fn split(text: &str, mut reading: Reading, joins: bool) -> Reading {
    if !text.contains("://") {
        reading.urls.push(text.trim().to_owned());
        return reading;
    }
    let (text, are_bracketed) = bracketed(text);
    if are_bracketed {
        reading.notes.push(Note::Spaces);
    }
    let mut is_around = false;
    let mut urls: Vec<String> = Vec::new();
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '«' | '»' | '“' | '”' | '„')
    };
    for piece in text.split(ends).filter(|piece| !piece.is_empty()) {
        if !piece.contains("://") {
            match urls.last_mut() {
                Some(url) if joins && continues(url, piece) => {
                    url.push_str(piece);
                    reading.notes.push(Note::Spaces);
                }
                _ => is_around = true,
            }
            continue;
        }
        for url in several(piece) {
            let address = url.find("://").unwrap_or_default();
            let scheme = url.as_bytes()[..address].iter().rev();
            let start = address - scheme.take_while(|byte| is_scheme_byte(**byte)).count();
            is_around |= start > 0;
            let whole = &url[start..];
            let end = whole.trim_end_matches(|c: char| ".,;:!?'()[]{}*|…".contains(c));
            is_around |= end.len() < whole.len();
            urls.push(end.to_owned());
        }
    }
    for url in urls {
        if !reading.urls.contains(&url) {
            reading.urls.push(url);
        }
    }
    if is_around {
        reading.notes.push(Note::Around);
    }
    reading.notes.dedup();
    reading
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

/// Whether a piece of text continues the URL before it: as a value of hex digits, or with the next
/// parameter.
fn continues(url: &str, piece: &str) -> bool {
    let is_query = |b: u8| b.is_ascii_alphanumeric() || b"&=_-~%.".contains(&b);
    let is_hex = piece.bytes().all(|b| b.is_ascii_hexdigit());
    let is_part = piece.bytes().all(is_query);
    let is_open = url.contains('?') && !url.contains('#');
    is_open && is_part && (is_hex && piece.len() >= 4 || piece.contains('='))
}

/// The URLs of a piece of text without white space: a list has commas between them.
fn several(piece: &str) -> Vec<&str> {
    let mut urls = Vec::new();
    let mut rest = piece;
    while let Some(at) = rest.match_indices("http").map(|(at, _)| at).find(|&at| {
        let begins = rest[at..].starts_with("http://") || rest[at..].starts_with("https://");
        begins && at > 0 && rest[..at].contains("://") && rest[..at].ends_with([',', ';', '|'])
    }) {
        urls.push(&rest[..at]);
        rest = &rest[at..];
    }
    urls.push(rest);
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7&c=94EED9EE";

    fn first(text: &str) -> Reading {
        readings(text).swap_remove(0)
    }

    #[test]
    fn a_url_is_read_as_the_chip_wrote_it() {
        for (text, notes) in [
            (URL.to_owned(), &[][..]),
            (format!(" {URL}\r\n"), &[]),
            (URL.replace('&', "&amp;"), &[Note::Entities]),
            (URL.replace('&', "&amp;amp;amp;"), &[Note::Entities]),
            (URL.replace('&', "&AMP;"), &[Note::Entities]),
            (URL.replace('&', "&#38;"), &[Note::Entities]),
            (URL.replace('&', "&#x26;"), &[Note::Entities]),
            (URL.replace('&', "%26amp%3B"), &[Note::Entities]),
            (format!("&lt;{URL}&gt;"), &[Note::Entities]),
            (URL.replace('=', "=3D"), &[Note::QuotedPrintable]),
            (URL.replace('=', "=3d"), &[Note::QuotedPrintable]),
            (URL.replace("3FF7", "3F=\r\nF7"), &[Note::SoftBreak]),
            (
                URL.replace('=', "=3D").replace("3FF7", "3F=\nF7"),
                &[Note::SoftBreak, Note::QuotedPrintable],
            ),
            (format!("<{URL}>"), &[]),
            (
                format!("<{}>", URL.replace("3FF7", "\n  3FF7")),
                &[Note::Spaces],
            ),
            (format!("({URL})."), &[Note::Around]),
            (format!("{URL}."), &[Note::Around]),
            (format!("\"{URL}\","), &[Note::Around]),
            (format!("Tap: {URL} Thanks, Ann"), &[Note::Around]),
            (format!("URL:{URL}"), &[Note::Around]),
            (format!("{URL}\n{URL}"), &[]),
        ] {
            let read = first(&text);
            assert_eq!(read.urls, [URL], "{text}");
            assert_eq!(read.notes, notes, "{text}");
        }
    }

    #[test]
    fn several_urls_are_each_read() {
        let other = URL.replace("94EE", "11EE");
        for between in ["\n", " ", ", ", ",", ";", "\r\n\r\n", ">, <", " and "] {
            let read = first(&format!("<{URL}{between}{other}>"));
            assert_eq!(read.urls, [URL, &other], "{between:?}");
        }
        // One that ends with an equals sign, and the next line.
        let read = first("https://a.example/?c=\nhttps://b.example/?c=1");
        assert_eq!(
            read.urls,
            ["https://a.example/?c=", "https://b.example/?c=1"]
        );
        // A URL inside of another one is a part of it.
        let nested = "https://a.example/?to=https://b.example/";
        assert_eq!(first(nested).urls, [nested]);
    }

    #[test]
    fn what_may_be_meant_otherwise_is_read_both_ways() {
        let text = "https://a.example/?m=3D963FF7828658A599F3041510671E88";
        let both: Vec<_> = readings(text).into_iter().map(|r| r.urls).collect();
        assert_eq!(both[0], [text]);
        assert_eq!(both[1], [text.replace("=3D", "=")]);
        let text = URL.replace("3FF7", " 3FF7");
        let both: Vec<_> = readings(&text).into_iter().map(|r| r.urls).collect();
        assert_eq!(both[0], ["https://tags.example.com/v?e=EF96"]);
        assert_eq!(both[1], [URL]);
    }

    #[test]
    fn a_text_without_an_address_stays_what_it_is() {
        for text in [
            "",
            "no url",
            "tags.example.com/t/k3v9qa",
            "mailto:a@b.example",
        ] {
            let read = readings(text);
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].urls, [text]);
        }
        let custom = "myprefix://uid=04494ACAFD1990&ctr=00001E";
        assert_eq!(first(custom).urls, [custom]);
    }
}
