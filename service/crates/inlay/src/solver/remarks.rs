//! Properties of the URLs that explain an answer. Without them, a person who reads "unknown" looks
//! for a wrong key, although a value was cut off or the chip writes none.

use std::collections::HashSet;
use std::fmt;

use super::lengths::{self, VALUE_MIN};
use super::{Format, KeySource, fixed, forms};
use crate::template::is_scheme;

/// Names that owners give to the parameter of a counter.
const COUNTERS: [&str; 9] = [
    "cnt", "count", "counter", "ctr", "n", "num", "rctr", "read_ctr", "readctr",
];
/// The most digits of a counter, as a decimal number.
const COUNTER_MAX: usize = 8;

/// A property of the URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A URL has a scheme other than `http` and `https`.
    NoWebAddress {
        /// Scheme, as the URL has it.
        scheme: String,
    },
    /// A URL has no scheme.
    NoScheme,
    /// A value has an odd number of hex digits, although a byte has two.
    Cut {
        /// The parameter, or the path segment itself.
        name: String,
        /// How many hex digits there are.
        digits: usize,
    },
    /// A value is all zeros, as its owner wrote it: the chip does not mirror there.
    NotWritten {
        /// Name of the parameter.
        name: String,
    },
    /// The PICC data contain no counter.
    NoCounter,
    /// The PICC data contain no UID.
    NoUid,
    /// A value has a number of hex digits that no chip writes there.
    Length {
        /// The parameter, or the path segment itself.
        name: String,
        /// How many hex digits there are.
        digits: usize,
        /// How many digits the likeliest value has, and its name.
        expected: (usize, &'static str),
    },
    /// A value has a letter that looks like a digit.
    Letter {
        /// The parameter, or the path segment itself.
        name: String,
        /// The letter in place of the digit.
        letter: char,
    },
    /// A parameter is there twice, so that no template can have the URL.
    Repeated {
        /// Name of the parameter.
        name: String,
    },
    /// Values of a chip are behind `#`.
    BehindHash,
    /// A template has as literal text a value that is probably a counter, in a form that no chip
    /// writes.
    CounterAsText {
        /// Name of the parameter.
        name: String,
    },
    /// No chip writes into the URLs: they are the same on every tap.
    Fixed,
    /// The URLs have values that no supported chip writes. Their template leaves these out.
    Unread,
    /// Codes of HID's service for authentication, which publishes no way to check them.
    HidCodes,
    /// The chips each have their own keys.
    OwnKeys {
        /// Each used URL's index among all URLs, and the key of its chip.
        keys: Vec<(usize, OwnKey)>,
    },
}

/// The file key of a URL's chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKey {
    /// The given key at this index.
    Given(usize),
    /// Derived from the master key at this index.
    Master(usize),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWebAddress { scheme } => write!(
                f,
                "\"{scheme}://\" is no web address: the URL of a tag begins with https:// or http://."
            ),
            Self::NoScheme => f.write_str(
                "This is no web address: the URL of a tag begins with https:// or http://.",
            ),
            Self::Cut { name, digits } => write!(
                f,
                "The value of \"{name}\" has {digits} hex digits, an odd number: a part of it is missing. Copy the whole URL."
            ),
            Self::NotWritten { name } => write!(
                f,
                "The value of \"{name}\" is all zeros: the chip writes nothing there. Switch its mirror on."
            ),
            Self::NoCounter => f.write_str(
                "The PICC data contain no read counter. Switch on its mirror: without a counter, a tap cannot be distinguished from a copy.",
            ),
            Self::NoUid => f.write_str(
                "The PICC data contain no UID. Switch on its mirror: only a slug in the URL can name the chip.",
            ),
            Self::Length {
                name,
                digits,
                expected: (length, value),
            } => write!(
                f,
                "The value of \"{name}\" has {digits} hex digits; {value} has {length}. Copy the whole URL."
            ),
            Self::Letter { name, letter } => write!(
                f,
                "The value of \"{name}\" has the letter \"{letter}\", which is no hex digit. Copy the URL instead of typing it."
            ),
            Self::Repeated { name } => write!(
                f,
                "The parameter \"{name}\" is in a URL twice, and a tap with it twice has no code. Copy the URL as the chip has it."
            ),
            Self::BehindHash => f.write_str(
                "There are values behind \"#\". Nothing behind \"#\" reaches a server: the chip must write them in front of it, in the path or behind \"?\".",
            ),
            Self::CounterAsText { name } => write!(
                f,
                "\"{name}\" is literal text in a template here. If it counts the taps, the template matches no other tap: a chip writes a counter as 6 hex digits, and NTAG 21x only directly behind the UID and an \"x\"."
            ),
            Self::Fixed => f.write_str(
                "No chip writes into these URLs: they are the same on every tap, as those of QR codes, so no tap can be verified. Any chip can have them.",
            ),
            Self::Unread => f.write_str(
                "Tapdesk does not know the values after \"?\" as those of a chip. With this template it serves the tags, and verifies none of their taps.",
            ),
            Self::HidCodes => f.write_str(
                "\"tac\" is a code of HID's Trusted Tag Services: only HID can check it. Tapdesk can serve these tags, and verifies none of their taps.",
            ),
            Self::OwnKeys { keys } => {
                f.write_str("Each chip has a file key of its own:")?;
                for (at, (url, key)) in keys.iter().enumerate() {
                    let end = if at + 1 == keys.len() { "." } else { "," };
                    match key {
                        OwnKey::Given(key) => {
                            write!(f, " URL {} has key {}{end}", url + 1, key + 1)?;
                        }
                        OwnKey::Master(key) => write!(
                            f,
                            " that of URL {} is derived from master key {}{end}",
                            url + 1,
                            key + 1
                        )?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// The remarks on URLs and on the formats that the used ones could have.
pub(super) fn of(urls: &[&str], used: &[&str], candidates: &[Format]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut add = |remark| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    let is_proved = candidates.iter().any(|format| format.proved_by > 0);
    let is_fixed = !candidates.is_empty() && candidates.iter().all(fixed::is);
    for url in urls {
        match url.split_once("://") {
            None => add(Remark::NoScheme),
            Some((scheme, _)) => {
                if !is_scheme(scheme) {
                    let scheme = scheme.to_owned();
                    add(Remark::NoWebAddress { scheme });
                }
            }
        }
        for (name, value) in values(url) {
            if value.len() < VALUE_MIN || !value.bytes().all(|b| b.is_ascii_hexdigit()) {
                continue;
            }
            if value.bytes().all(|b| b == b'0') {
                let name = name.to_owned();
                add(Remark::NotWritten { name });
            }
        }
        if !is_proved {
            if let Some((name, digits)) = lengths::cut(url) {
                let name = name.to_owned();
                add(Remark::Cut { name, digits });
            }
            for remark in lengths::short(url) {
                add(remark);
            }
            if has_values_behind_hash(url) {
                add(Remark::BehindHash);
            }
            if let Some(name) = repeated(url) {
                let name = name.to_owned();
                add(Remark::Repeated { name });
            }
        }
        if candidates.is_empty()
            && let Some((name, letter)) = lengths::mistyped(url)
        {
            let name = name.to_owned();
            add(Remark::Letter { name, letter });
        }
        if forms::has_hid_code(url) {
            add(Remark::HidCodes);
        } else if is_fixed && used.contains(url) {
            add(if url.contains('?') {
                Remark::Unread
            } else {
                Remark::Fixed
            });
        }
    }
    if !is_proved {
        for name in candidates.iter().flat_map(counters_as_text) {
            add(Remark::CounterAsText { name });
        }
    }
    // Templates that the same MACs prove read the same PICC data.
    let of_picc = candidates.iter().filter(|format| {
        let is_of_picc = format.settings.template.contains("{picc}");
        is_of_picc && format.proved_by > 0
    });
    for (uid, counter) in of_picc.flat_map(|format| &format.reads) {
        if counter.is_none() {
            add(Remark::NoCounter);
        }
        if uid.is_none() {
            add(Remark::NoUid);
        }
    }
    if let [format] = candidates {
        // People count the URLs that they pasted, and some of these may be unused.
        let place = |used: &str| urls.iter().position(|url| *url == used);
        let own_sources = used.iter().zip(&format.own_sources);
        let keys = own_sources.filter_map(|(url, source)| {
            let key = match source {
                KeySource::Given { file, .. } => OwnKey::Given(*file),
                KeySource::Derived { master, .. } => OwnKey::Master(*master),
            };
            Some((place(url)?, key))
        });
        let keys: Vec<_> = keys.collect();
        if !keys.is_empty() {
            add(Remark::OwnKeys { keys });
        }
    }
    remarks
}

/// The first parameter that is in a URL twice.
fn repeated(url: &str) -> Option<&str> {
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    let (_, query) = url.split_once('?')?;
    let mut seen = HashSet::new();
    let names = query
        .split('&')
        .filter_map(|parameter| parameter.split('=').next());
    let mut names = names.filter(|name| !name.is_empty());
    names.find(|name| !seen.insert(*name))
}

fn has_values_behind_hash(url: &str) -> bool {
    let fragment = url.split_once('#').map_or("", |(_, fragment)| fragment);
    let mut runs = fragment.split(|c: char| !c.is_ascii_hexdigit());
    runs.any(|run| run.len() >= VALUE_MIN)
}

/// The parameters that a template without a counter has as literal text, though they have the name
/// and the digits of a counter.
fn counters_as_text(format: &Format) -> Vec<String> {
    let text = &format.settings.template;
    if fixed::is(format) || text.contains("{counter}") || text.contains("{picc}") {
        return Vec::new();
    }
    let counters = values(text).filter(|(name, value)| {
        let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_hexdigit());
        let name = name.to_ascii_lowercase();
        is_number && value.len() <= COUNTER_MAX && COUNTERS.contains(&name.as_str())
    });
    counters.map(|(name, _)| name.to_owned()).collect()
}

/// The parameters of a URL, and its path segments under their own name.
pub(super) fn values(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let segments = path.split('/').skip(1).map(|segment| (segment, segment));
    let parameters = query
        .split('&')
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, parameter)));
    segments.chain(parameters)
}
