//! The chip's NDEF file, the offsets at which it mirrors, and the input of its MAC.
//!
//! The file is `NLEN` (2 bytes, MSB first), then one short record: D1h 01h, length, 55h ("U"),
//! a prefix code, and the URL without the prefix (NFC Forum URI RTD; `NT4H2421Gx` section 8.2.3).

use super::syntax::{Parts, Token};
use super::{Field, Filled, MacStart, Template, TemplateError, TemplateSettings};
use crate::ndef::{self, PREFIXES};
use crate::slug;
use crate::technology::Family;

/// Bytes before the URL: NLEN, the record's header, and the prefix code.
const HEADER: usize = 7;

/// The longest URL after its prefix: a short record's length is one byte, and it counts the code.
pub(super) const REST_MAX: usize = 254;

/// Bytes of an NTAG 424 DNA's NDEF file (`NT4H2421Gx` section 8.2.3): it ends before a short
/// record does.
const FILE_OF_424: usize = 256;

/// The content to write to a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The NDEF file, with zeros in place of mirrored values.
    pub file: Vec<u8>,
    /// Where each placeholder begins, in bytes from the start of the file.
    pub offsets: Vec<(Field, usize)>,
    /// The start of the MAC's input (`SDMMACInputOffset`), in bytes from the start of the file;
    /// `None` if the chip makes no MAC of this kind.
    pub mac_input: Option<usize>,
    /// Where the chip writes the tamper letters (`TTStatusOffset`), in bytes from the start of the
    /// file: `{tamper}`, or inside `{enc}`.
    pub tamper: Option<usize>,
}

impl Layout {
    /// Bytes of the length before the message.
    pub const LENGTH: usize = 2;

    /// Where a placeholder begins, in bytes from the start of the file; `None` if there is none.
    pub fn offset(&self, field: Field) -> Option<usize> {
        let offset = self.offsets.iter().find(|(other, _)| *other == field);
        offset.map(|(_, offset)| *offset)
    }
}

/// Why a template has no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// `{*}` stands for text that is not known, so the file cannot be laid out.
    #[error("A template with {{*}} cannot be written to a chip.")]
    Any,
    /// The template has `{slug}`, but no slug was given.
    #[error("The template needs a slug.")]
    NoSlug,
    /// The slug stands in the host, and is no label of a host (RFC 1123, section 2.1).
    #[error(
        "The slug stands in the host, where it can only have up to 63 letters, digits and hyphens."
    )]
    SlugInHost,
    /// The URL does not fit into the chip's file.
    #[error("The URL needs {length} bytes in the chip's NDEF record; {max} fit.")]
    TooLong {
        /// Needed length, in bytes.
        length: usize,
        /// Available length, in bytes.
        max: usize,
    },
}

/// The prefix code of a template.
pub(super) fn prefix(settings: &TemplateSettings, parts: &Parts) -> Result<u8, TemplateError> {
    // Only literal text before the first placeholder can be abbreviated.
    let literal = parts.units.iter().map_while(|unit| match unit.token {
        Token::Char(c) => Some(c),
        Token::Field(_) => None,
    });
    let literal: String = literal.collect();
    let fits = |code: &u8| {
        let prefix = PREFIXES.get(usize::from(*code));
        prefix.is_some_and(|prefix| literal.starts_with(prefix))
    };
    match settings.ndef_prefix {
        Some(code) if fits(&code) => Ok(code),
        Some(_) => Err(TemplateError::Prefix),
        // Prefixes with "www." come before those without, so that the longest one is used.
        None => Ok([2, 1, 4, 3].into_iter().find(fits).unwrap_or(0)),
    }
}

impl Template {
    /// The content to write to the chip of the tag with this slug.
    ///
    /// # Errors
    ///
    /// [`LayoutError`] if the template has `{*}`, if it needs a slug and none is given, or if the
    /// URL does not fit into the chip.
    pub fn layout(&self, slug: Option<&str>) -> Result<Layout, LayoutError> {
        if self.has(Field::Any) {
            return Err(LayoutError::Any);
        }
        if self.has(Field::Slug) && slug.is_none() {
            return Err(LayoutError::NoSlug);
        }
        if slug.is_some_and(|slug| self.has_slug_in_host() && !is_label(slug)) {
            return Err(LayoutError::SlugInHost);
        }
        let File { bytes, offsets } = self.file(slug, &Filled::default());
        let (length, max) = (bytes.len() - HEADER, self.rest_max());
        if length > max {
            return Err(LayoutError::TooLong { length, max });
        }
        let mut layout = Layout {
            file: bytes,
            offsets,
            mac_input: None,
            tamper: None,
        };
        layout.mac_input = self.mac_input_start(&layout.offsets);
        layout.tamper = match self.settings.tamper_at {
            Some(at) => layout.offset(Field::Enc).map(|enc| enc + at),
            None => layout.offset(Field::Tamper),
        };
        Ok(layout)
    }

    /// The input of the MAC, as the chip sends it: the template's text with the code's values.
    pub fn mac_input(&self, slug: Option<&str>, code: &Filled) -> Vec<u8> {
        if self.settings.mac_from == MacStart::None {
            return Vec::new();
        }
        let File { bytes, offsets } = self.file(slug, code);
        let mac = offsets.iter().find(|(field, _)| *field == Field::Mac);
        match (self.mac_input_start(&offsets), mac) {
            (Some(start), Some(&(_, mac))) => bytes[start.min(mac)..mac].to_vec(),
            _ => Vec::new(),
        }
    }

    /// The URL with a code's values, as a chip sends it.
    pub fn url(&self, slug: Option<&str>, code: &Filled) -> String {
        let rest = self.file(slug, code).bytes.split_off(HEADER);
        let prefix = PREFIXES[usize::from(self.prefix)];
        format!("{prefix}{}", String::from_utf8_lossy(&rest))
    }

    /// Whether the MAC covers a placeholder.
    pub fn mac_covers(&self, field: Field) -> bool {
        let File { offsets, .. } = self.file(None, &Filled::default());
        let offset = |field| {
            let offset = offsets.iter().find(|(other, _)| *other == field);
            offset.map(|(_, offset)| *offset)
        };
        let start = self.mac_input_start(&offsets);
        matches!(
            (start, offset(field), offset(Field::Mac)),
            (Some(start), Some(at), Some(mac)) if start <= at && at < mac
        )
    }

    /// Refuses a URL that does not fit into any chip, whatever the slug.
    pub(super) fn fits(&self) -> Result<(), TemplateError> {
        let shortest = "a".repeat(*slug::LENGTHS.start());
        let (length, max) = (
            self.file(Some(&shortest), &Filled::default()).bytes.len() - HEADER,
            self.rest_max(),
        );
        if length > max {
            return Err(TemplateError::TooLongForChip { length, max });
        }
        Ok(())
    }

    /// The longest URL after its prefix that a chip of the technology has room for.
    fn rest_max(&self) -> usize {
        match self.settings.technology.family() {
            Family::Ntag424 => FILE_OF_424 - HEADER,
            // A Type 2 tag's number of pages is known only once it is on the reader.
            _ => REST_MAX,
        }
    }

    /// The first byte of the MAC's input, for these offsets.
    pub(super) fn mac_input_start(&self, offsets: &[(Field, usize)]) -> Option<usize> {
        let offset = |field| {
            let offset = offsets.iter().find(|(other, _)| *other == field);
            offset.map(|(_, offset)| *offset)
        };
        match self.settings.mac_from {
            MacStart::None => offset(Field::Mac),
            MacStart::Offset(start) => Some(usize::from(start)),
            start => start.field().and_then(offset),
        }
    }

    /// The NDEF file. A missing value is written as zeros, and `{*}` is left out.
    pub(super) fn file(&self, slug: Option<&str>, code: &Filled) -> File {
        let mut url = Vec::with_capacity(256);
        let mut offsets = Vec::with_capacity(8);
        for unit in &self.parts.units {
            match unit.token {
                Token::Char(c) => url.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                Token::Field(field) => {
                    offsets.push((field, url.len()));
                    match (field, code.get(field)) {
                        (Field::Slug, _) => url.extend(slug.unwrap_or_default().bytes()),
                        (_, Some(value)) => url.extend(value.bytes()),
                        (field, None) => {
                            let length = self.length(field).unwrap_or(0);
                            url.resize(url.len() + length, b'0');
                        }
                    }
                }
            }
        }
        let prefix = PREFIXES[usize::from(self.prefix)].len();
        for (_, offset) in &mut offsets {
            *offset = *offset - prefix + HEADER;
        }
        // A URL that is too long for a short record is refused before the file is used.
        let message = ndef::short_uri(self.prefix, &url[prefix..]);
        let [.., high, low] = message.len().to_be_bytes();
        let bytes = [&[high, low][..], &message].concat();
        File { bytes, offsets }
    }
}

/// Whether a text can be a label of a host.
fn is_label(text: &str) -> bool {
    text.len() <= 63 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// An NDEF file, with the position of each placeholder in it.
pub(super) struct File {
    pub bytes: Vec<u8>,
    pub offsets: Vec<(Field, usize)>,
}
