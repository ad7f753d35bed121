//! URL templates: how the chips of a batch write their URLs, as a person writes it.
//!
//! The text of a template determines the lengths of its placeholders, the bytes of the chip's NDEF
//! file with the offsets at which it mirrors, the shape of a request, and the static text of the
//! MAC's input. The MAC's input always uses the template's text, because apps and servers may
//! change a URL: they lower-case it, percent-encode it, and add or reorder parameters.
//!
//! | Module | Subject |
//! |---|---|
//! | `address` | the part of a URL that is not one-time: host, cookie path, the address itself |
//! | `syntax` | the text, taken apart: scheme, host, path, query |
//! | `rules` | the limits of each technology |
//! | `layout` | the NDEF file, its offsets, and the MAC's input |
//! | `sheet` | how chips are written |
//! | `request` | the values in a request |
//! | `overlap` | whether two templates can match one URL, and whether it tells them apart |
//! | `ranking` | the templates to which a URL may belong |

mod address;
mod error;
mod filled;
mod ipv4;
mod layout;
mod overlap;
mod ranking;
mod request;
mod rules;
mod sheet;
mod syntax;

use std::fmt;

use crate::technology::{Mode, Technology};
use crate::{MacFrom, Mirror};

pub use error::TemplateError;
pub use filled::{Filled, MalformedCode};
pub use layout::{Layout, LayoutError};
pub use overlap::RouteSegment;
pub use ranking::{ASKED_MAX, ranked};
pub use request::{Addressed, Decoded, Request, host_name, host_without_port};
pub use sheet::{EncodingSheet, KeyUse, Memory, Mirrored};
pub use syntax::is_scheme;

use syntax::Parts;

/// A placeholder of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Slug of the tag.
    Slug,
    /// UID of the chip, in clear.
    Uid,
    /// The read counter, or the time stamp of a SIC43 chip.
    Counter,
    /// Encrypted PICC data: UID and counter.
    Picc,
    /// File data, encrypted by the chip.
    Enc,
    /// The MAC or rolling code.
    Mac,
    /// The state of the tamper loop.
    Tamper,
    /// Any text that the service ignores.
    Any,
}

impl Field {
    /// All placeholders, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Slug,
        Self::Uid,
        Self::Counter,
        Self::Picc,
        Self::Enc,
        Self::Mac,
        Self::Tamper,
        Self::Any,
    ];

    /// The text between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slug => "slug",
            Self::Uid => "uid",
            Self::Counter => "counter",
            Self::Picc => "picc",
            Self::Enc => "enc",
            Self::Mac => "mac",
            Self::Tamper => "tamper",
            Self::Any => "*",
        }
    }

    /// Whether the chip writes this placeholder, as part of a code.
    pub const fn is_of_code(self) -> bool {
        !matches!(self, Self::Slug | Self::Any)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

/// Where the MAC's input begins; it ends before `{mac}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum MacStart {
    /// At `{mac}`: the input is empty.
    #[default]
    None,
    /// At the first character of `{slug}`.
    Slug,
    /// At the first character of `{uid}`.
    Uid,
    /// At the first character of `{counter}`.
    Counter,
    /// At the first character of `{picc}`.
    Picc,
    /// At the first character of `{enc}`.
    Enc,
    /// At the first character of `{tamper}`.
    Tamper,
    /// At this byte of the NDEF file: the chip's `SDMMACInputOffset`.
    Offset(u16),
}

impl MacStart {
    /// The placeholder at which the input begins, if it begins at one.
    const fn field(self) -> Option<Field> {
        match self {
            Self::None | Self::Offset(_) => None,
            Self::Slug => Some(Field::Slug),
            Self::Uid => Some(Field::Uid),
            Self::Counter => Some(Field::Counter),
            Self::Picc => Some(Field::Picc),
            Self::Enc => Some(Field::Enc),
            Self::Tamper => Some(Field::Tamper),
        }
    }
}

/// How a tap finds the inlay of a URL without `{slug}`, other than by an authentic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TemplateLookup))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Lookup {
    /// By the UID in clear of a chip that makes no MAC. Anyone can write any UID into such a URL.
    Unverified,
}

/// The settings of a template, as a person states them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TemplateSettings {
    /// The URL with its placeholders.
    pub template: String,
    /// Technology of the chips.
    pub technology: Technology,
    /// Cipher of the chips.
    pub mode: Mode,
    /// Where the MAC's input begins.
    pub mac_from: MacStart,
    /// The NDEF prefix code the chip was written with (0 to 4); by default the longest that fits.
    pub ndef_prefix: Option<u8>,
    /// Characters of `{enc}`, a multiple of 32.
    pub enc_length: Option<usize>,
    /// The byte of the decrypted file data at which the two letters of the tamper loop begin.
    pub tamper_at: Option<usize>,
    /// How a tap finds the inlay if no code proves it.
    pub lookup: Option<Lookup>,
}

impl TemplateSettings {
    /// The template of a chip in AES mode with an empty MAC input.
    pub fn new(template: impl Into<String>, technology: Technology) -> Self {
        Self {
            template: template.into(),
            technology,
            mode: Mode::Aes,
            mac_from: MacStart::None,
            ndef_prefix: None,
            enc_length: None,
            tamper_at: None,
            lookup: None,
        }
    }
}

/// A checked URL template: it is unambiguous, and a chip of its technology can write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    settings: TemplateSettings,
    parts: Parts,
    /// Code of the prefix that the chip's NDEF record abbreviates.
    prefix: u8,
    /// Whether the MAC covers `{tamper}`. Computed once instead of on every tap.
    tamper_covered: bool,
}

impl Template {
    /// Checks a person's settings. A scheme in capitals is written in small letters, because chips
    /// abbreviate only these.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] with the position in the text, if the template is ambiguous or no chip of
    /// its technology can write it.
    pub fn new(mut settings: TemplateSettings) -> Result<Self, TemplateError> {
        syntax::lower_scheme(&mut settings.template);
        let parts = Parts::parse(&settings.template)?;
        let prefix = layout::prefix(&settings, &parts)?;
        let mut template = Self {
            settings,
            parts,
            prefix,
            tamper_covered: false,
        };
        rules::check(&template)?;
        template.tamper_covered = template.mac_covers(Field::Tamper);
        Ok(template)
    }

    /// The built-in first template: the canonical form of a tag URL, below `tag_url`.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] if `tag_url` is not a URL that a chip can have.
    pub fn canonical(
        tag_url: &str,
        mirror: Mirror,
        mac_from: MacFrom,
    ) -> Result<Self, TemplateError> {
        let (code, uid) = match mirror {
            Mirror::Plain => ("uid={uid}&token={counter}{mac}", MacStart::Uid),
            Mirror::Encrypted => ("uid={picc}&token={mac}", MacStart::Picc),
        };
        let base = tag_url.replace('{', "{{").replace('}', "}}");
        let text = format!("{base}/{{slug}}?{code}");
        Self::new(TemplateSettings {
            mac_from: match mac_from {
                MacFrom::None => MacStart::None,
                MacFrom::Uid => uid,
            },
            ..TemplateSettings::new(text, Technology::Ntag424Dna)
        })
    }

    /// The settings that the owner chose.
    pub fn settings(&self) -> &TemplateSettings {
        &self.settings
    }

    /// The NDEF prefix code the chip is written with.
    pub fn ndef_prefix(&self) -> u8 {
        self.prefix
    }

    /// Whether a chip is written in the same way by both templates. A stated prefix may equal the
    /// default one.
    pub fn is_same(&self, other: &Self) -> bool {
        let stated = |template: &Self| TemplateSettings {
            ndef_prefix: Some(template.prefix),
            ..template.settings.clone()
        };
        stated(self) == stated(other)
    }

    /// Whether the template has the placeholder.
    pub fn has(&self, field: Field) -> bool {
        self.parts.has(field)
    }

    /// Whether a chip writes any values into its URLs.
    pub fn has_code(&self) -> bool {
        let mut fields = Field::ALL.into_iter();
        fields.any(|field| field.is_of_code() && self.has(field))
    }

    /// Whether a chip has the same URL at every scan: it writes nothing into it, or only its UID.
    pub fn is_static(&self) -> bool {
        let mut fields = Field::ALL.into_iter();
        let changes = |field: Field| field.is_of_code() && field != Field::Uid && self.has(field);
        !fields.any(changes)
    }

    /// How many characters a placeholder takes; `None` if that varies.
    pub fn length(&self, field: Field) -> Option<usize> {
        match field {
            Field::Enc => self.settings.enc_length,
            _ => self.settings.technology.length(field, self.settings.mode),
        }
    }

    /// Whether the MAC covers tamper letters in clear. If not, anyone can write them.
    pub fn tamper_covered(&self) -> bool {
        self.tamper_covered
    }

    /// Whether its URLs show the state of a tamper loop.
    pub fn tells_tamper(&self) -> bool {
        self.has(Field::Tamper) || self.settings.tamper_at.is_some()
    }

    /// Whether a code can ever prove a tap: it needs a MAC and a mirrored counter.
    pub fn proves_taps(&self) -> bool {
        self.has(Field::Mac) && (self.has(Field::Counter) || self.has(Field::Picc))
    }
}
