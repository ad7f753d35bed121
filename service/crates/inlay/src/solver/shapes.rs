//! The possible templates of a URL, by its lengths and characters.

use super::Shape;
use crate::slug::is_slug;
use crate::technology::{Family, Mode, Technology};
use crate::template::{Field, Filled, Lookup, MacStart, Request, Template, TemplateSettings};

/// How many steps reading a URL for one technology takes at most: far more than a chip's URL needs,
/// but a limit for a hostile one.
const STEPS_MAX: usize = 5_000;
/// The longest URL that is read, in bytes: a chip holds half as much.
pub(super) const URL_MAX: usize = 512;

/// The technologies that can be distinguished. One stands for all that write the same URLs.
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

/// The shapes that all URLs share; `None` if there are too many ways to read them.
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
        for (settings, unread) in reading.found {
            let Ok(template) = Template::new(settings) else {
                continue;
            };
            let codes = urls.iter().map(|url| code(&template, url));
            if let Some(codes) = codes.collect::<Option<Vec<_>>>()
                && is_worth_a_slug(&template, &codes)
            {
                shapes.push(Shape {
                    template,
                    codes,
                    unread,
                });
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

/// Whether the slug is worth assuming. A segment is taken for a slug only if it varies, if nothing
/// else names the tag, or if it looks like one: otherwise every segment could be one. A name in the
/// host has to vary or to look like one.
fn is_worth_a_slug(template: &Template, codes: &[(Option<String>, Filled)]) -> bool {
    let named = template.has(Field::Uid) || template.has(Field::Picc);
    let needed = !named || !template.settings().technology.rolls();
    let in_host = template.literal_host().is_none();
    let varies = codes.iter().any(|(slug, _)| *slug != codes[0].0);
    let slug = codes[0].0.as_deref();
    let numbered = || slug.is_some_and(is_numbered);
    // Beside a UID, a parameter in capitals is more likely the owner's own.
    let text = &template.settings().template;
    let in_query = text
        .find('?')
        .is_some_and(|at| text[at..].contains("{slug}"));
    if named && in_query && !slug.is_some_and(is_usual_slug) {
        return false;
    }
    !template.has(Field::Slug) || varies || (needed && !in_host) || numbered()
}

/// Whether a segment looks as if it named one tag of many: it has a number that is not part of a
/// chip's name.
fn is_numbered(segment: &str) -> bool {
    let chips = Technology::ALL.map(Technology::as_str);
    let makes = chips.map(|chip| chip.split_once("dna").map_or(chip, |(make, _)| make));
    let makes = makes.into_iter().chain(["424dna"]);
    let rest = makes.fold(segment.to_owned(), |rest, make| rest.replace(make, ""));
    rest.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a path segment looks as if it named a tag, in a form that is seldom a slug: it is short,
/// or has other characters. A version number is not such a name.
pub(super) fn is_name_elsewhere(segment: &str) -> bool {
    let is_version = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let version = segment.strip_prefix('v').is_some_and(is_version);
    let literal = !segment.contains(['{', '}']);
    literal && !version && !is_usual_slug(segment) && is_numbered(&segment.to_ascii_lowercase())
}

/// Whether a text is likely the name of a tag, and not a word of the address.
pub(super) fn is_name(text: &str) -> bool {
    is_slug(text) && (is_usual_slug(text) || is_name_elsewhere(text))
}

/// The placeholder for such a name: `{slug}` if a tag can have it as its slug.
pub(super) fn placeholder_of_name(name: &str) -> Field {
    if is_slug(name) {
        Field::Slug
    } else {
        Field::Any
    }
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
fn words(url: &str) -> Option<Vec<Word<'_>>> {
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
        },
        Word {
            text: &url[label..host],
            before: "",
            kind: Kind::Fixed,
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
        let is_whole = whole == Kind::Fixed || is_usual_slug(chunk);
        if is_whole || !chunk.contains(inner) || (in_query && is_name_in_query(chunk)) {
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

/// Whether a character can stand between two values of a chip.
const fn inner(c: char) -> bool {
    !c.is_ascii_alphanumeric() || c == 'x'
}

/// Whether the value of a parameter looks as if it named a tag, such as `AbC123xy`, and no part of
/// it could be a chip's UID or code. A counter and a state of a loop do not make it a run of values
/// if other letters are beside them.
fn is_name_in_query(value: &str) -> bool {
    let is_long = |part: &str| part.len() >= 8 && could_be_code(part);
    let of_chip = |b: u8| b.is_ascii_hexdigit() || matches!(b, b'O' | b'I');
    let is_run = || value.split(inner).all(|part| part.bytes().all(of_chip));
    let is_short = || !value.split(inner).any(could_be_code);
    is_slug(value)
        && is_name_elsewhere(value)
        && !value.split(inner).any(is_long)
        && (!is_run() || is_short())
}

/// Whether a text has the form of most slugs. A text in capitals or with other separators could as
/// well be a code, or several words.
fn is_usual_slug(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (6..=32).contains(&text.len()) && text.bytes().all(legal)
}

/// The literal values that look like a MAC or encrypted data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unread {
    /// There are none.
    #[default]
    Nothing,
    /// Each has an even number of digits, as a chip writes.
    Whole,
    /// One lacks a digit at least.
    Cut,
}

/// One way to read the words up to this point.
#[derive(Clone, Default)]
struct Reading {
    text: String,
    fields: Vec<Field>,
    enc_length: Option<usize>,
    unread: Unread,
}

impl Reading {
    /// Notes a value that is literal.
    fn leaves(&mut self, text: &str) {
        if is_value(text) {
            let unread = if text.len().is_multiple_of(2) {
                Unread::Whole
            } else {
                Unread::Cut
            };
            self.unread = self.unread.max(unread);
        }
    }
}

struct Readings<'a> {
    technology: Technology,
    mode: Mode,
    words: &'a [Word<'a>],
    others: &'a [Vec<Word<'a>>],
    steps: usize,
    found: Vec<(TemplateSettings, Unread)>,
}

impl Readings<'_> {
    /// Reads the words from `index` on in every way.
    fn extend(&mut self, reading: &mut Reading, index: usize) {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return;
        }
        let Some(word) = self.words.get(index) else {
            // A chip with a loop that does not mirror its state writes the same as one without a
            // loop.
            let has_loop = matches!(
                self.technology,
                Technology::Ntag424DnaTt | Technology::Ntag213Tt
            );
            let is_other = has_loop && !reading.fields.contains(&Field::Tamper);
            // The state of a loop is only a few characters, which proves nothing.
            let is_of_chip = |field: &Field| field.is_of_code() && *field != Field::Tamper;
            if !is_other && reading.fields.iter().any(is_of_chip) {
                let is_plain = !self.technology.rolls();
                if is_plain && reading.unread != Unread::Nothing {
                    return;
                }
                let by_uid = is_plain && !reading.fields.contains(&Field::Slug);
                let settings = TemplateSettings {
                    mode: self.mode,
                    lookup: by_uid.then_some(Lookup::Unverified),
                    // File data are inside the MAC's input, wherever that begins.
                    mac_from: match reading.enc_length {
                        Some(_) => MacStart::Enc,
                        None => MacStart::None,
                    },
                    enc_length: reading.enc_length,
                    ..TemplateSettings::new(reading.text.clone(), self.technology)
                };
                self.found.push((settings, reading.unread));
            }
            return;
        };
        reading.text += &escaped(word.before);
        let before = reading.clone();
        // Placeholders first, so that the most informative readings come first.
        if !matches!(word.kind, Kind::Fixed | Kind::Label) {
            self.placeholders(reading, word.text, index);
        }
        let whole = matches!(word.kind, Kind::Label | Kind::Segment | Kind::Value);
        if whole && is_usual_slug(word.text) && !self.is_domain(index) {
            self.with(&before, Field::Slug, index + 1);
        }
        if word.kind == Kind::Value && is_name_in_query(word.text) {
            self.with(&before, Field::Slug, index + 1);
        }
        let other = |words: &Vec<Word<'_>>| {
            words
                .get(index)
                .is_some_and(|other| other.text != word.text)
        };
        let is_name = || is_name_elsewhere(word.text) && !could_be_code(word.text);
        let open = match word.kind {
            Kind::Value => Some(Field::Any),
            Kind::Segment if is_name() => Some(placeholder_of_name(word.text)),
            Kind::Segment | Kind::Fixed | Kind::Label | Kind::Part => None,
        };
        match open.filter(|_| self.others.iter().any(other)) {
            Some(Field::Any) => {
                let mut any = before.clone();
                any.leaves(word.text);
                any.text += "{*}";
                self.extend(&mut any, index + 1);
            }
            Some(field) => self.with(&before, field, index + 1),
            None => {}
        }
        let mut literal = before;
        literal.leaves(word.text);
        literal.text += &escaped(word.text);
        self.extend(&mut literal, index + 1);
    }

    /// Whether the word is a name under which domains are registered: such a name is not a slug.
    fn is_domain(&self, index: usize) -> bool {
        let rest = self.words.get(index + 1).map_or("", |rest| rest.text);
        self.words[index].kind == Kind::Label && rest.matches('.').count() < 2
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
                    continue;
                }
                self.placeholders(&reading, rest, index);
                // The owner's text may follow the mirror of UID and counter without a separator.
                if field == Field::Counter
                    && self.technology.family() == Family::Ntag21x
                    && reading.fields.contains(&Field::Uid)
                {
                    reading.text += rest;
                    self.extend(&mut reading, index + 1);
                }
            }
        }
    }
}

/// Whether the text looks like a MAC or encrypted data, possibly with a part missing. A URL with
/// such a value is hardly that of a chip without a MAC.
fn is_value(text: &str) -> bool {
    text.len() > 14 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the text has the characters of a code's values, and is as long as the shortest counter.
fn could_be_code(text: &str) -> bool {
    text.len() >= 6 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a chip writes such characters for this placeholder.
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

/// The text as a literal part of a template.
pub(super) fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
