//! Macros: `{{ interaction:rk }}` and others in the texts and URLs of an owner.
//!
//! A [`Template`] is a text with macros in it; a [`Target`] is the URL of a redirect, which is a
//! template with additional rules. Values come from a [`Scope`], and are data in every place: each
//! one is encoded for its place, and none is ever parsed as a template again. A value can therefore
//! not become markup, a header, or a URL's scheme or host. Strangers write tag variables, so these
//! rules prevent them from turning a tag against its visitors.
//!
//! Every text is a template, even if a macro in it does not exist: stored texts continue to be
//! shown. [`check`] refuses such a text before it is saved.
//!
//! Nothing here does input or output.

mod misspelt;
mod target;
mod template;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use askama::filters::{Escaper as _, Html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub use misspelt::{Misspelt, check, check_of_label};
pub use target::{LOCATION_MAX, Location, Settled, TARGET_MAX, Target, TargetError};
pub use template::Template;

/// The value that a macro names. Names are case sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Macro {
    /// `interaction:rk`: the rolling key as the visitor holds it.
    InteractionRk,
    /// `interaction:id`: the interaction's number.
    InteractionId,
    /// `interaction:time`: seconds since the Unix epoch.
    InteractionTime,
    /// `interaction:tech:value`: `n`, `q` or `u`.
    TechValue,
    /// `interaction:tech:name`: `NFC`, `QR-Code` or `URL`.
    TechName,
    /// `interaction:verification:supported`: `true` or `false`.
    VerificationSupported,
    /// `interaction:verification:result`: `true`, `false` or empty.
    VerificationResult,
    /// `interaction:tampered`: `true` sealed, `false` reclosed or open, empty else.
    Tampered,
    /// `interaction:tamper:result`: the same as `interaction:tampered`.
    TamperResult,
    /// `interaction:tamper:supported`: `true` or `false`.
    TamperSupported,
    /// `interaction:counter`: the counter in the inlay's code, empty without one.
    InteractionCounter,
    /// `inlay:uid`: the UID of the inlay that made the tap's code, empty if it is unknown.
    InlayUid,
    /// `group:name`: the name of the tag's group.
    GroupName,
    /// `product:name`: the name of the nearest product above the tag.
    ProductName,
    /// `product:code`: the product's SKU.
    ProductCode,
    /// `product:gtin`: its GTIN, 14 digits.
    ProductGtin,
    /// `batch:name`: the name of the nearest batch above the tag.
    BatchName,
    /// `batch:code`: the number of the lot.
    BatchCode,
    /// `query:NAME`: a parameter of the visitor's URL, without those of the code. Strangers write
    /// its value.
    Query(String),
    /// `tag:id`: the tag's number.
    TagId,
    /// `tag:slug`: the tag's part of its URL.
    TagSlug,
    /// `tag:name`: the owner's name for the tag.
    TagName,
    /// `tag:title`: the name for visitors.
    TagTitle,
    /// `tag:attribute:KEY`, by the key.
    TagAttribute(String),
    /// `tag:data:KEY`, by the key.
    TagData(String),
    /// `tag:variable:KEY`, by the key. Strangers write its value.
    TagVariable(String),
    /// `device:country`: a two-letter code, or empty.
    DeviceCountry,
    /// `location:lat`: latitude in degrees.
    LocationLat,
    /// `location:lon`: longitude in degrees.
    LocationLon,
    /// `location:venue:name`: the venue's name.
    VenueName,
    /// `label:number`: the position on the roll of an encoding run, else the number of the label.
    /// Only labels have it.
    LabelNumber,
}

const ATTRIBUTE: &str = "tag:attribute:";
const DATA: &str = "tag:data:";
const VARIABLE: &str = "tag:variable:";
const QUERY: &str = "query:";

/// The beginnings of macros that end in a key.
const KEYED: [&str; 4] = [ATTRIBUTE, DATA, VARIABLE, QUERY];

/// The macros without a key, by their names.
const FIXED: [(&str, Macro); 27] = [
    ("interaction:rk", Macro::InteractionRk),
    ("interaction:id", Macro::InteractionId),
    ("interaction:time", Macro::InteractionTime),
    ("interaction:tech:value", Macro::TechValue),
    ("interaction:tech:name", Macro::TechName),
    (
        "interaction:verification:supported",
        Macro::VerificationSupported,
    ),
    ("interaction:verification:result", Macro::VerificationResult),
    ("interaction:tampered", Macro::Tampered),
    ("interaction:tamper:result", Macro::TamperResult),
    ("interaction:tamper:supported", Macro::TamperSupported),
    ("interaction:counter", Macro::InteractionCounter),
    ("inlay:uid", Macro::InlayUid),
    ("tag:id", Macro::TagId),
    ("tag:slug", Macro::TagSlug),
    ("tag:name", Macro::TagName),
    ("tag:title", Macro::TagTitle),
    ("group:name", Macro::GroupName),
    ("product:name", Macro::ProductName),
    ("product:code", Macro::ProductCode),
    ("product:gtin", Macro::ProductGtin),
    ("batch:name", Macro::BatchName),
    ("batch:code", Macro::BatchCode),
    ("device:country", Macro::DeviceCountry),
    ("location:lat", Macro::LocationLat),
    ("location:lon", Macro::LocationLon),
    ("location:venue:name", Macro::VenueName),
    ("label:number", Macro::LabelNumber),
];

/// A name that no macro has. In a template its value is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no macro of this name.")]
pub struct UnknownMacro;

impl FromStr for Macro {
    type Err = UnknownMacro;

    /// Parses a name. Any key is accepted: a macro with a key that no tag can have is always empty.
    fn from_str(name: &str) -> Result<Self, UnknownMacro> {
        let keyed = |prefix: &str| {
            let key = name.strip_prefix(prefix)?;
            (!key.is_empty()).then(|| key.to_owned())
        };
        if let Some(key) = keyed(ATTRIBUTE) {
            return Ok(Self::TagAttribute(key));
        }
        if let Some(key) = keyed(DATA) {
            return Ok(Self::TagData(key));
        }
        if let Some(key) = keyed(VARIABLE) {
            return Ok(Self::TagVariable(key));
        }
        if let Some(name) = keyed(QUERY) {
            return Ok(Self::Query(name));
        }
        let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name);
        fixed.map(|(_, fixed)| fixed.clone()).ok_or(UnknownMacro)
    }
}

/// Writes the name, as it is in templates.
impl fmt::Display for Macro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TagAttribute(key) => write!(f, "{ATTRIBUTE}{key}"),
            Self::TagData(key) => write!(f, "{DATA}{key}"),
            Self::TagVariable(key) => write!(f, "{VARIABLE}{key}"),
            Self::Query(name) => write!(f, "{QUERY}{name}"),
            fixed => {
                let name = FIXED.iter().find(|(_, named)| named == fixed);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

impl Macro {
    /// Whether a page or a redirect can have a value for it.
    const fn is_of_tap(&self) -> bool {
        !matches!(self, Self::LabelNumber)
    }

    /// Whether strangers write its value.
    const fn is_of_stranger(&self) -> bool {
        matches!(self, Self::TagVariable(_) | Self::Query(_))
    }

    /// Whether a label can have a value for it: it is not about a tap.
    const fn is_of_label(&self) -> bool {
        matches!(
            self,
            Self::TagId
                | Self::TagSlug
                | Self::TagName
                | Self::TagTitle
                | Self::TagAttribute(_)
                | Self::TagData(_)
                | Self::TagVariable(_)
                | Self::GroupName
                | Self::ProductName
                | Self::ProductCode
                | Self::ProductGtin
                | Self::BatchName
                | Self::BatchCode
                | Self::LocationLat
                | Self::LocationLon
                | Self::VenueName
                | Self::LabelNumber
        )
    }
}

/// The values that an interaction or a label gives to macros.
pub trait Scope {
    /// The value of `name`. `None` and `""` mean the same: there is no value, so the fallback is
    /// used.
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>>;
}

/// The encoding of values for their place. The owner's own text around them stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// In a URL: everything but the unreserved characters of RFC 3986 is percent-encoded.
    Url,
    /// In HTML: `&`, `<`, `>`, `"` and `'` are escaped. Safe for the content of an element and of a
    /// quoted attribute, but not for scripts, styles, comments or unquoted attributes.
    Html,
    /// Unchanged, in places that hold only plain text.
    Text,
}

/// All but the unreserved characters (RFC 3986, section 2.3).
const RESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// How long `value` is in a URL, in bytes.
fn url_length(value: &str) -> usize {
    utf8_percent_encode(value, &RESERVED).map(str::len).sum()
}

impl Encoding {
    /// `value` in the encoding for such a place.
    pub fn encode(self, value: Cow<'_, str>) -> Cow<'_, str> {
        match self {
            Self::Url => utf8_percent_encode(&value, &RESERVED).to_string().into(),
            Self::Html => {
                let mut escaped = String::with_capacity(value.len());
                // Writing to a String does not fail.
                let _ = Html.write_escaped_str(&mut escaped, &value);
                escaped.into()
            }
            Self::Text => value,
        }
    }
}
