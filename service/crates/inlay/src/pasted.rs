//! URLs in a text that somebody pasted. Mail, chats and web pages change URLs: `&amp;` for `&`,
//! `=3D` for `=`, lines that end with `=`, brackets around the URL and a full stop after it. No
//! chip writes any of these. Apps for NFC show the bytes of a chip instead of its URL.
//!
//! | Module | Subject |
//! |---|---|
//! | `broken` | URLs in pieces between spaces and lines |
//! | `capitals` | schemes and hosts in capitals |
//! | `dump` | the bytes of a chip, written in hex |
//! | `ends` | where a URL ends within a text |
//! | `escapes` | characters that web pages, mail and programs escape |
//! | `notes` | the differences between the text and the URLs, in words |
//! | `schemes` | schemes that are missing or mistyped |
//! | `separators` | encoded separators of the query, and marks behind it |
//! | `split` | the URLs of a text, and the words between them |
//! | `tracking` | parameters that apps and campaigns append |
//! | `unused` | the pieces of the text that were not used, each with its reason |

mod broken;
mod capitals;
mod dump;
mod ends;
mod escapes;
mod notes;
mod schemes;
mod separators;
mod split;
mod tracking;
mod unused;

use crate::uid;
pub use notes::Note;
pub use unused::{Unusable, Unused};

/// The most URLs that are read from a text.
pub const URLS_MAX: usize = 5;
/// The fewest hex digits in a row that look like a value of a chip. A shorter run may be a word or
/// a number of the owner, which must stay as it is.
const VALUE_MIN: usize = uid::DIGITS;
/// The fewest characters of a value before a mark that ends it: those of the shortest code.
const CODE_MIN: usize = 8;

/// A way to read the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The URLs, each once, in order of appearance. If the text has no `://`, the whole text is one
    /// URL.
    pub urls: Vec<String>,
    /// The differences between the URLs and the text.
    pub notes: Vec<Note>,
    /// The pieces of the text that are in no URL, in order of appearance. Punctuation is no piece.
    pub unused: Vec<Unused>,
}

/// The ways to read the text, the likeliest first; there is at least one. Only one of them can be
/// right: a value of a chip may begin with `3D`, and a word next to a URL may look like a piece of
/// it.
pub fn readings(text: &str) -> Vec<Reading> {
    ways_to_read(text, false)
}

/// The ways to read the text; with `adds_schemes`, also with the schemes that it lacks.
fn ways_to_read(text: &str, adds_schemes: bool) -> Vec<Reading> {
    let text = text.replace("\r\n", "\n");
    let mut notes = Vec::new();
    let text = noted(&mut notes, Note::Bytes, dump::text(&text));
    let text = noted(&mut notes, Note::Invisible, escapes::invisible(&text));
    let (soft, has_soft_breaks) = soft_breaks(&text);
    let with_soft = notes.iter().cloned();
    let with_soft = with_soft.chain(has_soft_breaks.then_some(Note::SoftBreak));
    let mut readings = unescaped(&soft, with_soft.collect(), adds_schemes);
    if has_soft_breaks {
        // The `=` before a value can be the end of a line, too.
        readings.extend(unescaped(&text, notes, adds_schemes));
    }
    let readings = readings.into_iter().flat_map(|reading| {
        let separated = separators::read(&reading);
        separated.into_iter().chain([reading])
    });
    readings.collect()
}

/// The ways to read a text whose lines are whole.
fn unescaped(text: &str, mut notes: Vec<Note>, adds_schemes: bool) -> Vec<Reading> {
    let text = noted(&mut notes, Note::Entities, escapes::entities(text));
    let text = noted(&mut notes, Note::Escapes, escapes::of_programs(&text));
    let plain = Reading {
        notes,
        ..Reading::default()
    };
    let with = |note: Note| {
        let mut reading = plain.clone();
        reading.notes.push(note);
        reading
    };
    let mut readings = Vec::new();
    if let Some(unwrapped) = escapes::unwrapped(&text) {
        readings.extend(ways(&unwrapped, &with(Note::Wrapped)));
    }
    let completed = adds_schemes.then(|| schemes::completed(&text)).flatten();
    let completed = completed.map(|text| ways(&text, &with(Note::Scheme)));
    let completed = completed.unwrap_or_default();
    let plain = ways(&text, &plain);
    // Beside a web address, words that look like one are used only if a MAC proves it.
    if split::has_web_address(&text) {
        readings.extend(plain);
        readings.extend(completed);
    } else {
        readings.extend(completed);
        readings.extend(plain);
    }
    readings
}

/// The ways to read several texts together, with the URLs of all of them: at most [`URLS_MAX`], and
/// the others are named. Parameters that apps append are left out first: with them, the URLs are
/// those of one visit, not of the chip. Missing schemes are completed.
pub fn readings_of(texts: &[String]) -> Vec<Reading> {
    let texts: Vec<_> = texts.iter().map(|text| ways_to_read(text, true)).collect();
    let ways = texts.iter().map(Vec::len).max().unwrap_or_default();
    let together = (0..ways).flat_map(|way| {
        let mut all = Reading::default();
        for reading in texts
            .iter()
            .filter_map(|ways| ways.get(way).or(ways.first()))
        {
            all.urls.extend(reading.urls.iter().cloned());
            all.unused.extend(reading.unused.iter().cloned());
            for note in &reading.notes {
                if !all.notes.contains(note) {
                    all.notes.push(note.clone());
                }
            }
        }
        capitals::lowered(&all)
    });
    let whole = together.flat_map(|all| {
        let shorter = tracking::without(&all);
        shorter.into_iter().chain([all])
    });
    whole.map(limited).collect()
}

/// The reading with each of its URLs once, and no more than [`URLS_MAX`].
fn limited(mut reading: Reading) -> Reading {
    without_repeated(&mut reading);
    let more = reading.urls.split_off(reading.urls.len().min(URLS_MAX));
    let more = more.iter().map(|url| Unused::new(url, Unusable::TooMany));
    reading.unused.extend(more);
    reading
}

/// The ways to read a text without escapes.
fn ways(text: &str, plain: &Reading) -> Vec<Reading> {
    let raw = split::urls(text, plain.clone(), false);
    let mut readings = vec![raw];
    if let Some(decoded) = quoted_printable(&readings[0].urls) {
        // One value can begin with 3D by chance, but hardly two of them.
        let is_clear = decoded.values > 1 || plain.notes.contains(&Note::SoftBreak);
        let mut reading = readings[0].clone();
        reading.notes.push(Note::QuotedPrintable);
        reading.urls = decoded.urls;
        readings.insert(usize::from(!is_clear), reading);
    }
    let joined = split::urls(text, plain.clone(), true);
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

/// Whether a text has as many hex digits in a row as a value of a chip.
fn has_value(text: &str) -> bool {
    let mut runs = text.split(|c: char| !c.is_ascii_hexdigit());
    runs.any(|run| run.len() >= VALUE_MIN)
}

/// The address of a URL, and its fragment with the `#`; that is empty if there is none.
fn without_fragment(url: &str) -> (&str, &str) {
    url.split_at(url.find('#').unwrap_or(url.len()))
}

const fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Leaves each URL in the reading once.
fn without_repeated(reading: &mut Reading) {
    for url in std::mem::take(&mut reading.urls) {
        if reading.urls.contains(&url) {
            reading.unused.push(Unused::new(&url, Unusable::Repeated));
        } else {
            reading.urls.push(url);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://tags.example.com/v?e=EF963FF7828658A5&c=94EED9EE";

    /// The URL, percent-encoded between two texts.
    fn wrapped(before: &str, after: &str) -> String {
        let encoded = URL.replace(':', "%3A").replace('/', "%2F");
        let encoded = encoded.replace('?', "%3F").replace('=', "%3D");
        format!("{before}{}{after}", encoded.replace('&', "%26"))
    }

    fn unused(reading: &Reading) -> Vec<(&str, &'static str)> {
        let unused = reading.unused.iter();
        unused
            .map(|unused| (&*unused.text, unused.why.name()))
            .collect()
    }

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
            (URL.replace('&', "&amp%3B"), &[Note::Entities]),
            (URL.replace('&', "&amp;#x26;"), &[Note::Entities]),
            (URL.replace('=', "&#061;"), &[Note::Entities]),
            (URL.replace('/', "&#x2F;"), &[Note::Entities]),
            (URL.replace('&', "\\u0026"), &[Note::Escapes]),
            (
                URL.replace('/', "\\/").replace('=', "\\u003D"),
                &[Note::Escapes],
            ),
            (URL.replace('&', "\\&"), &[Note::Escapes]),
            (URL.replace("tags", "tags\u{200B}"), &[Note::Invisible]),
            (wrapped("", ""), &[Note::Wrapped]),
            (
                wrapped("https://safe.example/?url=", "&data=05%7C01%7C&reserved=0"),
                &[Note::Wrapped],
            ),
            (
                wrapped("https://safe.example/?url=", "&data=1").replace('%', "%25"),
                &[Note::Wrapped],
            ),
            (
                wrapped("https://www.example/url?q=", "&sa=U")
                    .replace("%3A", ":")
                    .replace("%2F", "/"),
                &[Note::Wrapped],
            ),
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
            (format!("<{URL}|tags.example.com>"), &[Note::Around]),
            (format!("[{URL}]({URL})"), &[Note::Around]),
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
    fn each_piece_that_is_no_url_is_named() {
        let text = format!("Dear Ann, {URL}: this one.\n({URL}) - and {URL}9, thanks!");
        assert_eq!(
            unused(&first(&text)),
            [
                ("Dear Ann", "words"),
                ("this one", "words"),
                ("and", "words"),
                ("thanks", "words"),
                (URL, "repeated"),
            ]
        );
        let many = (0..7).map(|n| format!("https://a.example/?q={n}"));
        let many: Vec<_> = many.collect();
        for texts in [vec![many.join(" ")], many.clone()] {
            let reading = readings_of(&texts).swap_remove(0);
            assert_eq!(reading.urls, many[..5]);
            let last = [(&*many[5], "too_many"), (&*many[6], "too_many")];
            assert_eq!(unused(&reading), last);
        }
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
