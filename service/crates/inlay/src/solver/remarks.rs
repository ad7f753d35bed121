//! Properties of the URLs that explain an answer. Without them, a person who reads "unknown" looks
//! for a wrong key, although a value was cut off or the chip writes none.

use std::fmt;

use super::Format;
use crate::technology::Family;

/// The fewest hex digits that count as a chip's value: those of a UID minus one.
const VALUE_MIN: usize = 13;
/// The fewest digits if all are decimal: times in milliseconds have 13.
const DECIMAL_MIN: usize = 14;

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
    /// The chips each have their own keys.
    OwnKeys {
        /// For each URL, the index of its file key among the given keys.
        files: Vec<usize>,
    },
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
                "The PICC data contain no read counter. Switch on its mirror: without a counter, no tap can be told from a copy.",
            ),
            Self::NoUid => f.write_str(
                "The PICC data contain no UID. Switch on its mirror: only a slug in the URL can name the chip.",
            ),
            Self::OwnKeys { files } => {
                f.write_str("Each chip has a file key of its own:")?;
                for (url, file) in files.iter().enumerate() {
                    let end = if url + 1 == files.len() { "." } else { "," };
                    write!(f, " URL {} has key {}{end}", url + 1, file + 1)?;
                }
                Ok(())
            }
        }
    }
}

/// The remarks on URLs and on the formats that they could have.
pub(super) fn of(urls: &[&str], candidates: &[Format]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut add = |remark| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    let is_proved = candidates.iter().any(|format| format.proved_by > 0);
    for url in urls {
        match url.split_once("://") {
            None => add(Remark::NoScheme),
            Some((scheme, _)) => {
                let known = ["https", "http", "lnurlw"];
                if !known.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
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
                continue;
            }
            let is_decimal = value.bytes().all(|b| b.is_ascii_digit());
            let is_of_chip = !is_decimal || value.len() >= DECIMAL_MIN;
            if value.len() % 2 == 1 && is_of_chip && !is_proved {
                let (name, digits) = (name.to_owned(), value.len());
                add(Remark::Cut { name, digits });
            }
        }
    }
    if let [format] = candidates {
        let of_picc = format.settings.technology.family() == Family::Ntag424
            && format.settings.template.contains("{picc}");
        let reads = &format.reads;
        if is_proved && of_picc && reads.iter().any(|read| read.1.is_none()) {
            add(Remark::NoCounter);
        }
        if is_proved && of_picc && reads.iter().any(|read| read.0.is_none()) {
            add(Remark::NoUid);
        }
        let files: Vec<usize> = format
            .own_sources
            .iter()
            .filter_map(super::KeySource::file)
            .collect();
        if !files.is_empty() {
            add(Remark::OwnKeys { files });
        }
    }
    remarks
}

/// The parameters of a URL, and its path segments under their own name.
fn values(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let segments = path.split('/').skip(1).map(|segment| (segment, segment));
    let parameters = query
        .split('&')
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, parameter)));
    segments.chain(parameters)
}
