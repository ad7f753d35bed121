//! URL templates: how the chips of a batch write their URLs, as a person writes it.
//!
//! From the text of a template follow the lengths of its placeholders, the bytes of the chip's
//! NDEF file with the offsets at which it mirrors, what a request must look like, and the static
//! text of the MAC's input. That text is always the template's: on its way a URL is lower-cased,
//! percent-encoded, and gets parameters and another order.
//!
//! | Module | Subject |
//! |---|---|
//! | `address` | what of a URL is not one-time: host, cookie path, the address itself |
//! | `syntax` | the text, taken apart: scheme, host, path, query |
//! | `rules` | what a technology allows |
//! | `layout` | the NDEF file, its offsets, and the MAC's input |
//! | `sheet` | how chips are written |
//! | `request` | the values in a request |
//! | `overlap` | whether two templates can match one URL |

mod address;
mod error;
mod filled;
mod layout;
mod overlap;
mod request;
mod rules;
mod sheet;
mod syntax;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::inlay::technology::{Mode, Technology};
use crate::inlay::{MacFrom, Mirror};

pub use error::TemplateError;
pub use filled::{Filled, MalformedCode};
pub use layout::{Layout, LayoutError};
pub use overlap::RouteSegment;
pub(crate) use request::host_without_port;
pub use request::{Addressed, Request};
pub use sheet::{EncodingSheet, KeyUse, Memory, Mirrored};

use syntax::Parts;

/// A placeholder of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The tag's slug.
    Slug,
    /// The chip's UID.
    Uid,
    /// The read counter, or the time stamp of a SIC43 chip.
    Counter,
    /// Encrypted PICC data: UID and counter.
    Picc,
    /// Encrypted file data.
    Enc,
    /// The MAC or rolling code.
    Mac,
    /// The state of the tamper loop.
    Tamper,
    /// Anything.
    Any,
}

impl Field {
    /// All of them, in the order of their declaration.
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

    /// What stands between the braces.
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

    /// Whether the chip writes it: it is part of a code.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
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
    /// The placeholder it names.
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

/// What a person states of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSettings {
    /// The URL with its placeholders.
    pub template: String,
    /// The chip.
    pub technology: Technology,
    /// Its cipher.
    pub mode: Mode,
    /// Where the MAC's input begins.
    pub mac_from: MacStart,
    /// The NDEF prefix code the chip was written with (0 to 4); by default the longest that fits.
    pub ndef_prefix: Option<u8>,
    /// Characters of `{enc}`, a multiple of 32.
    pub enc_length: Option<usize>,
    /// At which byte of the decrypted file data the two letters of the tamper loop stand.
    pub tamper_at: Option<usize>,
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
        }
    }
}

/// A URL template that was checked: nothing in it is ambiguous, and a chip of its technology can
/// write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    settings: TemplateSettings,
    parts: Parts,
    /// Code of the prefix that the chip's NDEF record abbreviates.
    prefix: u8,
    /// Whether the MAC covers `{tamper}`; known once, not found on every tap.
    tamper_covered: bool,
}

impl Template {
    /// Checks what a person wrote.
    pub fn new(settings: TemplateSettings) -> Result<Self, TemplateError> {
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

    /// Whether a chip is written alike by both: a prefix that is stated can be the one that
    /// follows from the text.
    pub fn is_same(&self, other: &Self) -> bool {
        let stated = |template: &Self| TemplateSettings {
            ndef_prefix: Some(template.prefix),
            ..template.settings.clone()
        };
        stated(self) == stated(other)
    }

    /// Whether the placeholder stands in it.
    pub fn has(&self, field: Field) -> bool {
        self.parts.has(field)
    }

    /// Whether a chip writes anything into its URLs.
    pub fn has_code(&self) -> bool {
        let mut fields = Field::ALL.into_iter();
        fields.any(|field| field.is_of_code() && self.has(field))
    }

    /// How many characters stand in place of a placeholder; `None` if that varies.
    pub fn length(&self, field: Field) -> Option<usize> {
        match field {
            Field::Enc => self.settings.enc_length,
            _ => self.settings.technology.length(field, self.settings.mode),
        }
    }

    /// Whether the MAC covers tamper letters in clear. Otherwise anyone can write them.
    pub fn tamper_covered(&self) -> bool {
        self.tamper_covered
    }

    /// Whether its URLs have a place for the state of a tamper loop.
    pub fn tells_tamper(&self) -> bool {
        self.has(Field::Tamper) || self.settings.tamper_at.is_some()
    }

    /// Whether a code can ever prove a tap: it has a MAC, and a counter that is mirrored.
    pub fn proves_taps(&self) -> bool {
        self.has(Field::Mac) && (self.has(Field::Counter) || self.has(Field::Picc))
    }
}
