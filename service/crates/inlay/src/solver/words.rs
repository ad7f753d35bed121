//! The words of a URL: its parts between separators, each a value of a chip, a name of a tag, or
//! literal.

use super::shapes::{could_be_code, is_name_elsewhere, is_usual_slug};
use crate::slug::is_slug;

/// The hex digits of a UID. Those of the chips that mirror several values in one run begin with 04,
/// the number of NXP.
const UID: usize = 14;

/// A part of a URL between separators.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// The characters before it: they are literal.
    pub(super) before: &'a str,
    pub(super) kind: Kind,
    /// The piece that begins with this word; `None` if the word is a later part of a piece.
    pub(super) piece: Option<Piece<'a>>,
}

/// The text between two separators of a URL. It is one word, or has several.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// How many words it has.
    pub(super) words: usize,
    /// Whether it is a segment of the path.
    pub(super) in_path: bool,
}

impl<'a> Piece<'a> {
    /// A piece of one word, outside of the path.
    const fn of_one(text: &'a str) -> Self {
        Self {
            text,
            words: 1,
            in_path: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Scheme and host, or the name of a parameter: always literal.
    Fixed,
    /// The first name of a host: literal, or the slug.
    Label,
    /// A whole path segment.
    Segment,
    /// A whole value of a parameter.
    Value,
    /// A part of a segment or value.
    Part,
}

/// A URL's words. Adjacent values of a chip have an `x` between them, which is not a hex digit.
pub(super) fn of(url: &str) -> Option<Vec<Word<'_>>> {
    let (_, rest) = url.split_once("://")?;
    let scheme = url.len() - rest.len();
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let host = scheme + rest.find(['/', '?']).unwrap_or(rest.len());
    let end = url.split_once('#').map_or(url.len(), |(url, _)| url.len());
    let name = &url[scheme..host];
    let label = scheme + name.find('.').unwrap_or(name.len());
    let mut words = vec![
        Word {
            text: &url[scheme..label],
            before: &url[..scheme],
            kind: Kind::Label,
            piece: Some(Piece::of_one(&url[scheme..label])),
        },
        Word {
            text: &url[label..host],
            before: "",
            kind: Kind::Fixed,
            piece: Some(Piece::of_one(&url[label..host])),
        },
    ];
    let mut at = host;
    let mut in_query = false;
    while at < end {
        let separator = url[at..].chars().next()?;
        in_query |= separator == '?';
        let start = at + separator.len_utf8();
        let outer = |c: char| {
            if in_query {
                c == '&' || c == '='
            } else {
                c == '/' || c == '?'
            }
        };
        let stop = url[start..end]
            .find(outer)
            .map_or(end, |length| start + length);
        let chunk = &url[start..stop];
        let is_name = in_query && url[stop..end].starts_with('=') && separator != '=';
        let whole = match (is_name, in_query) {
            (true, _) => Kind::Fixed,
            (false, true) => Kind::Value,
            (false, false) => Kind::Segment,
        };
        let piece = |words| Piece {
            text: chunk,
            words,
            in_path: !in_query,
        };
        let is_whole = whole == Kind::Fixed || (is_usual_slug(chunk) && !is_run(chunk));
        if is_whole || !chunk.contains(inner) || (in_query && is_name_in_query(chunk)) {
            words.push(Word {
                text: chunk,
                before: &url[at..start],
                kind: whole,
                piece: Some(piece(1)),
            });
        } else {
            let mut before = at;
            let mut first = Some(piece(chunk.split(inner).count()));
            for part in chunk.split(inner) {
                let from = part.as_ptr() as usize - url.as_ptr() as usize;
                words.push(Word {
                    text: part,
                    before: &url[before..from],
                    kind: Kind::Part,
                    piece: first.take(),
                });
                before = from + part.len();
            }
        }
        at = stop;
    }
    Some(words)
}

/// Of each word of a URL, whether it begins a piece that is different in one of the other URLs.
/// Pieces are compared by their place, because one of them can have any number of words.
pub(super) fn varying(words: &[Word<'_>], others: &[Vec<Word<'_>>]) -> Vec<bool> {
    let others: Vec<Vec<&str>> = others.iter().map(|words| pieces(words)).collect();
    let mut place = 0;
    let mut varying = Vec::with_capacity(words.len());
    for word in words {
        let Some(piece) = &word.piece else {
            varying.push(false);
            continue;
        };
        let differs = |other: &Vec<&str>| other.get(place).is_some_and(|text| *text != piece.text);
        varying.push(others.iter().any(differs));
        place += 1;
    }
    varying
}

fn pieces<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
    let pieces = words.iter().filter_map(|word| word.piece.as_ref());
    pieces.map(|piece| piece.text).collect()
}

/// Whether a character can stand between two values of a chip.
const fn inner(c: char) -> bool {
    !c.is_ascii_alphanumeric() || c == 'x'
}

/// Whether a text is a UID and other values of a chip, one after the other. An app that writes URLs
/// in small letters makes them look like most slugs.
fn is_run(text: &str) -> bool {
    let begins_uid = |part: &str| part.len() == UID && part.starts_with("04");
    text.contains(inner)
        && text.split(inner).all(could_be_code)
        && text.split(inner).next().is_some_and(begins_uid)
}

/// Whether the value of a parameter looks as if it named a tag, such as `AbC123xy`, and no part of
/// it could be a chip's UID or code. A counter and a state of a loop do not make it a run of values
/// if other letters are beside them.
pub(super) fn is_name_in_query(value: &str) -> bool {
    let is_long = |part: &str| part.len() >= 8 && could_be_code(part);
    let of_chip = |b: u8| b.is_ascii_hexdigit() || matches!(b, b'O' | b'I');
    let are_of_chip = || value.split(inner).all(|part| part.bytes().all(of_chip));
    let is_short = || !value.split(inner).any(could_be_code);
    is_slug(value)
        && is_name_elsewhere(value)
        && !value.split(inner).any(is_long)
        && (!are_of_chip() || is_short())
}
