//! The templates a URL could be of, by its lengths and characters.

use super::Shape;
use crate::inlay::technology::{Family, Mode, Technology};
use crate::inlay::template::{Field, Filled, MacStart, Request, Template, TemplateSettings};

/// How many steps reading a URL as of one technology takes at most: far more than a chip's URL
/// needs, and an end for a hostile one.
const STEPS_MAX: usize = 5_000;
/// The longest URL that is read, in bytes: a chip holds half as much.
const URL_MAX: usize = 512;

/// The technologies that can be distinguished. Those that write the same URLs are named by one of them.
const PROFILES: [(Technology, Mode); 9] = [
    (Technology::Ntag424Dna, Mode::Aes),
    (Technology::Ntag424Dna, Mode::Lrp),
    (Technology::Ntag424DnaTt, Mode::Aes),
    (Technology::Ntag424DnaTt, Mode::Lrp),
    (Technology::Ntag223Dna, Mode::Aes),
    (Technology::Sic43Nt, Mode::Aes),
    (Technology::Sic43S1, Mode::Aes),
    (Technology::Ntag213, Mode::Aes),
    (Technology::Ntag213Tt, Mode::Aes),
];

/// The shapes that all URLs have; `None` if there are too many ways to read them.
pub(super) fn all(urls: &[&str]) -> Option<Vec<Shape>> {
    if urls.iter().any(|url| url.len() > URL_MAX) {
        return None;
    }
    let Some(words) = urls.first().and_then(|url| words(url)) else {
        return Some(Vec::new());
    };
    let others: Vec<_> = urls[1..]
        .iter()
        .filter_map(|url| self::words(url))
        .collect();
    let mut shapes: Vec<Shape> = Vec::new();
    for (technology, mode) in PROFILES {
        let mut reading = Readings {
            technology,
            mode,
            words: &words,
            others: &others,
            steps: 0,
            found: Vec::new(),
        };
        reading.extend(&mut Reading::default(), 0);
        if reading.steps > STEPS_MAX {
            return None;
        }
        for settings in reading.found {
            let Ok(template) = Template::new(settings) else {
                continue;
            };
            let codes = urls.iter().map(|url| code(&template, url));
            if let Some(codes) = codes.collect::<Option<Vec<_>>>()
                && is_worth_a_slug(&template, &codes)
            {
                shapes.push(Shape { template, codes });
            }
        }
    }
    Some(shapes)
}

/// The code and slug of a URL, if it has the template's shape.
fn code(template: &Template, url: &str) -> Option<(Option<String>, Filled)> {
    let addressed = template.read(&Request::of_url(url)?)?;
    Some((addressed.slug, addressed.code.ok()??))
}

/// A segment is taken for a slug only if it varies, or if nothing else names the tag: otherwise
/// every segment could be one.
fn is_worth_a_slug(template: &Template, codes: &[(Option<String>, Filled)]) -> bool {
    let named = template.has(Field::Uid) || template.has(Field::Picc);
    let rolls = template.settings().technology.rolls();
    let varies = codes.iter().any(|(slug, _)| *slug != codes[0].0);
    !template.has(Field::Slug) || varies || !named || !rolls
}

/// A part of a URL between separators.
struct Word<'a> {
    text: &'a str,
    /// The characters before it: they are literal.
    before: &'a str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Scheme and host, or the name of a parameter: always literal.
    Fixed,
    /// A whole path segment.
    Segment,
    /// A whole value.
    Value,
    /// A part of a segment or value.
    Part,
}

/// A URL's words. Values of one run have an `x` between them, which is no hex digit.
fn words(url: &str) -> Option<Vec<Word<'_>>> {
    let (_, rest) = url.split_once("://")?;
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let host =
        url.len() - url.split_once("://")?.1.len() + rest.find(['/', '?']).unwrap_or(rest.len());
    let end = url.split_once('#').map_or(url.len(), |(url, _)| url.len());
    let mut words = vec![Word {
        text: &url[..host],
        before: "",
        kind: Kind::Fixed,
    }];
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
        let inner = |c: char| !c.is_ascii_alphanumeric() || c == 'x';
        if whole == Kind::Fixed || !chunk.contains(inner) || is_slug(chunk) {
            words.push(Word {
                text: chunk,
                before: &url[at..start],
                kind: whole,
            });
        } else {
            let mut before = at;
            for part in chunk.split(inner) {
                let from = part.as_ptr() as usize - url.as_ptr() as usize;
                words.push(Word {
                    text: part,
                    before: &url[before..from],
                    kind: Kind::Part,
                });
                before = from + part.len();
            }
        }
        at = stop;
    }
    Some(words)
}

fn is_slug(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (6..=32).contains(&text.len()) && text.bytes().all(legal)
}

/// One way to read the words so far.
#[derive(Clone, Default)]
struct Reading {
    text: String,
    fields: Vec<Field>,
    enc_length: Option<usize>,
}

struct Readings<'a> {
    technology: Technology,
    mode: Mode,
    words: &'a [Word<'a>],
    others: &'a [Vec<Word<'a>>],
    steps: usize,
    found: Vec<TemplateSettings>,
}

impl Readings<'_> {
    /// Reads the words from `index` on in every way.
    fn extend(&mut self, reading: &mut Reading, index: usize) {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return;
        }
        let Some(word) = self.words.get(index) else {
            // Without the state of its loop, a chip with one writes what the other one does.
            let has_loop = matches!(
                self.technology,
                Technology::Ntag424DnaTt | Technology::Ntag213Tt
            );
            let is_other = has_loop && !reading.fields.contains(&Field::Tamper);
            if !is_other && reading.fields.iter().any(|field| field.is_of_code()) {
                self.found.push(TemplateSettings {
                    mode: self.mode,
                    // File data lie inside the MAC's input, wherever that begins.
                    mac_from: match reading.enc_length {
                        Some(_) => MacStart::Enc,
                        None => MacStart::None,
                    },
                    enc_length: reading.enc_length,
                    ..TemplateSettings::new(reading.text.clone(), self.technology)
                });
            }
            return;
        };
        reading.text += &escaped(word.before);
        let before = reading.clone();
        // Placeholders first: the readings that tell most come first.
        if word.kind != Kind::Fixed {
            self.placeholders(reading, word.text, index);
            if matches!(word.kind, Kind::Segment) && is_slug(word.text) {
                self.with(&before, Field::Slug, index + 1);
            }
        }
        let other = |words: &Vec<Word<'_>>| {
            words
                .get(index)
                .is_some_and(|other| other.text != word.text)
        };
        if word.kind == Kind::Value && self.others.iter().any(other) {
            let mut any = before.clone();
            any.text += "{*}";
            self.extend(&mut any, index + 1);
        }
        let mut literal = before;
        literal.text += &escaped(word.text);
        self.extend(&mut literal, index + 1);
    }

    fn with(&mut self, before: &Reading, field: Field, next: usize) {
        if !before.fields.contains(&field) {
            let mut reading = before.clone();
            reading.text += &field.to_string();
            reading.fields.push(field);
            self.extend(&mut reading, next);
        }
    }

    /// Reads `rest` of a word as placeholders that fill it exactly.
    fn placeholders(&mut self, reading: &Reading, rest: &str, index: usize) {
        for field in Field::ALL.into_iter().filter(|field| field.is_of_code()) {
            if reading.fields.contains(&field) {
                continue;
            }
            let enc = field == Field::Enc && self.technology.family() == Family::Ntag424;
            let lengths = match self.technology.length(field, self.mode) {
                Some(length) => vec![length],
                None if enc => (32..=rest.len()).step_by(32).collect(),
                None => continue,
            };
            for length in lengths {
                let Some((value, rest)) = rest.split_at_checked(length) else {
                    continue;
                };
                if !could_be(field, self.technology, value) {
                    continue;
                }
                let mut reading = reading.clone();
                reading.text += &field.to_string();
                reading.fields.push(field);
                if field == Field::Enc {
                    reading.enc_length = Some(length);
                }
                if rest.is_empty() {
                    self.extend(&mut reading, index + 1);
                } else {
                    self.placeholders(&reading, rest, index);
                }
            }
        }
    }
}

/// Whether a chip writes such characters.
fn could_be(field: Field, technology: Technology, value: &str) -> bool {
    let letters = |value: &str| {
        value
            .bytes()
            .all(|b| matches!(b, b'C' | b'O' | b'I' | b'0'))
    };
    match (field, technology.family()) {
        (Field::Tamper, Family::Ntag424) => letters(value) && !value.contains('0'),
        (Field::Tamper, Family::Ntag22x) => {
            let (state, measured) = value.split_at(2);
            letters(state) && measured.bytes().all(|b| b.is_ascii_hexdigit())
        }
        (Field::Tamper, Family::Sic43Nt | Family::Sic43S1) => value == "00" || value == "AA",
        _ => value.bytes().all(|b| b.is_ascii_hexdigit()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
