//! The possible templates of a URL, by its lengths and characters.

use super::Shape;
use super::words::{self, Kind, Word, is_name_in_query};
use crate::slug::is_slug;
use crate::technology::{Family, Mode, Technology};
use crate::template::{Field, Filled, Lookup, MacStart, Request, Template, TemplateSettings};

/// How many steps reading a URL for one technology takes at most: far more than a chip's URL needs,
/// but a limit for a hostile one.
const STEPS_MAX: usize = 5_000;
/// The longest URL that is read, in bytes: a chip holds half as much.
pub(super) const URL_MAX: usize = 512;

/// Words that owners put before the query of all their tags' URLs, beside single letters.
const ADDRESS_WORDS: [&str; 13] = [
    "check",
    "item",
    "items",
    "nfc",
    "product",
    "products",
    "scan",
    "tag",
    "tags",
    "tap",
    "taps",
    "verification",
    "verify",
];

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
    let Some(words) = urls.first().and_then(|url| words::of(url)) else {
        return Some(Vec::new());
    };
    let others = urls[1..].iter().filter_map(|url| words::of(url));
    let varies = words::varying(&words, &others.collect::<Vec<_>>());
    let mut shapes: Vec<Shape> = Vec::new();
    for (technology, mode) in PROFILES {
        let mut reading = Readings {
            technology,
            mode,
            words: &words,
            varies: &varies,
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
    without_chips(segment).bytes().any(|b| b.is_ascii_digit())
}

/// The segment without the names of chips.
fn without_chips(segment: &str) -> String {
    let chips = Technology::ALL.map(Technology::as_str);
    let makes = chips.map(|chip| chip.split_once("dna").map_or(chip, |(make, _)| make));
    let makes = makes.into_iter().chain(["424dna"]);
    makes.fold(segment.to_owned(), |rest, make| rest.replace(make, ""))
}

/// Whether a segment is a usual word of an address, a single letter, a version or the name of a chip:
/// all tags of an owner have it, so one URL with it does not name a tag.
pub(super) fn is_word_of_address(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase();
    let names_chip = without_chips(&lower) != lower && !is_numbered(&lower);
    let is_letter = matches!(lower.as_bytes(), [byte] if byte.is_ascii_lowercase());
    names_chip || is_letter || is_version(&lower) || ADDRESS_WORDS.contains(&&*lower)
}

/// Whether a segment is `v` with a number, or without one.
fn is_version(segment: &str) -> bool {
    let is_number = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    segment.strip_prefix('v').is_some_and(is_number)
}

/// Whether a path segment looks as if it named a tag, in a form that is seldom a slug: it is short,
/// or has other characters. A version number is not such a name.
pub(super) fn is_name_elsewhere(segment: &str) -> bool {
    let literal = !segment.contains(['{', '}']);
    literal
        && !is_version(segment)
        && !is_usual_slug(segment)
        && is_numbered(&segment.to_ascii_lowercase())
}

/// The placeholder for such a name: `{slug}` if a tag can have it as its slug.
pub(super) fn placeholder_of_name(name: &str) -> Field {
    if is_slug(name) {
        Field::Slug
    } else {
        Field::Any
    }
}

/// Whether a text has the form of most slugs. A text in capitals or with other separators could as
/// well be a code, or several words.
pub(super) fn is_usual_slug(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (6..=32).contains(&text.len()) && text.bytes().all(legal)
}

/// The literal values that look like a MAC or encrypted data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unread {
    /// No literal value looks like one.
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
    /// Of each word, whether the piece of the URL that it begins differs between the URLs.
    varies: &'a [bool],
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
        let varies = self.varies[index];
        // Usual slugs of one word are above.
        if varies
            && let Some(piece) = &word.piece
            && piece.in_path
            && is_slug(piece.text)
            && (piece.words > 1 || !is_usual_slug(piece.text))
        {
            let mut named = before.clone();
            named.leaves(piece.text);
            self.with(&named, Field::Slug, index + piece.words);
        }
        let is_name = || is_name_elsewhere(word.text) && !could_be_code(word.text);
        let is_open = match word.kind {
            Kind::Value => true,
            Kind::Segment => !is_slug(word.text) && is_name(),
            Kind::Fixed | Kind::Label | Kind::Part => false,
        };
        if varies && is_open {
            let mut any = before.clone();
            any.leaves(word.text);
            any.text += "{*}";
            self.extend(&mut any, index + 1);
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
pub(super) fn could_be_code(text: &str) -> bool {
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
