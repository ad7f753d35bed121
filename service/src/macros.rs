//! Macros: `{{ interaction:rk }}` and its like in the texts and URLs of an owner.
//!
//! A [`Template`] is a text with macros in it; a [`Target`] is the URL a
//! redirect leads to, which is a template with rules of its own. Values come
//! from a [`Scope`], and are data wherever they stand: every one is encoded for
//! its place, and none is ever read as a template again. A value can therefore
//! not become markup, a header, or a URL's scheme or host. Tag variables are
//! written by strangers, so this is what keeps a tag from being turned against
//! its visitors.
//!
//! Nothing here does input or output.

mod target;
mod template;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use askama::filters::{Escaper as _, Html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub use target::{LOCATION_MAX, Location, Settled, TARGET_MAX, Target, TargetError};
pub use template::Template;

/// What a macro names. Names are case sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Macro {
    /// `interaction:rk`: the rolling key as the visitor holds it.
    InteractionRk,
    /// `interaction:id`.
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
    /// `interaction:tamper:result`: the same.
    TamperResult,
    /// `interaction:tamper:supported`: `true` or `false`.
    TamperSupported,
    /// `tag:id`.
    TagId,
    /// `tag:name`.
    TagName,
    /// `tag:title`.
    TagTitle,
    /// `tag:attribute:KEY`, by the key.
    TagAttribute(String),
    /// `tag:data:KEY`, by the key.
    TagData(String),
    /// `tag:variable:KEY`, by the key. Strangers write its value.
    TagVariable(String),
    /// `device:country`: a two-letter code, or empty.
    DeviceCountry,
    /// `location:lat`: degrees.
    LocationLat,
    /// `location:lon`: degrees.
    LocationLon,
    /// `location:venue:name`.
    VenueName,
}

/// A name that no macro has. In a template it is empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no macro of this name.")]
pub struct UnknownMacro;

impl FromStr for Macro {
    type Err = UnknownMacro;

    /// Reads a name. A key is taken as it stands: one that no tag can have is a
    /// macro whose value is always empty.
    fn from_str(name: &str) -> Result<Self, UnknownMacro> {
        let keyed = |prefix: &str| name.strip_prefix(prefix).filter(|key| !key.is_empty());
        if let Some(key) = keyed("tag:attribute:") {
            return Ok(Self::TagAttribute(key.to_owned()));
        }
        if let Some(key) = keyed("tag:data:") {
            return Ok(Self::TagData(key.to_owned()));
        }
        if let Some(key) = keyed("tag:variable:") {
            return Ok(Self::TagVariable(key.to_owned()));
        }
        Ok(match name {
            "interaction:rk" => Self::InteractionRk,
            "interaction:id" => Self::InteractionId,
            "interaction:time" => Self::InteractionTime,
            "interaction:tech:value" => Self::TechValue,
            "interaction:tech:name" => Self::TechName,
            "interaction:verification:supported" => Self::VerificationSupported,
            "interaction:verification:result" => Self::VerificationResult,
            "interaction:tampered" => Self::Tampered,
            "interaction:tamper:result" => Self::TamperResult,
            "interaction:tamper:supported" => Self::TamperSupported,
            "tag:id" => Self::TagId,
            "tag:name" => Self::TagName,
            "tag:title" => Self::TagTitle,
            "device:country" => Self::DeviceCountry,
            "location:lat" => Self::LocationLat,
            "location:lon" => Self::LocationLon,
            "location:venue:name" => Self::VenueName,
            _ => return Err(UnknownMacro),
        })
    }
}

/// The name.
impl fmt::Display for Macro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InteractionRk => f.write_str("interaction:rk"),
            Self::InteractionId => f.write_str("interaction:id"),
            Self::InteractionTime => f.write_str("interaction:time"),
            Self::TechValue => f.write_str("interaction:tech:value"),
            Self::TechName => f.write_str("interaction:tech:name"),
            Self::VerificationSupported => f.write_str("interaction:verification:supported"),
            Self::VerificationResult => f.write_str("interaction:verification:result"),
            Self::Tampered => f.write_str("interaction:tampered"),
            Self::TamperResult => f.write_str("interaction:tamper:result"),
            Self::TamperSupported => f.write_str("interaction:tamper:supported"),
            Self::TagId => f.write_str("tag:id"),
            Self::TagName => f.write_str("tag:name"),
            Self::TagTitle => f.write_str("tag:title"),
            Self::TagAttribute(key) => write!(f, "tag:attribute:{key}"),
            Self::TagData(key) => write!(f, "tag:data:{key}"),
            Self::TagVariable(key) => write!(f, "tag:variable:{key}"),
            Self::DeviceCountry => f.write_str("device:country"),
            Self::LocationLat => f.write_str("location:lat"),
            Self::LocationLon => f.write_str("location:lon"),
            Self::VenueName => f.write_str("location:venue:name"),
        }
    }
}

/// What an interaction can say to macros.
pub trait Scope {
    /// The value of `name`. `None` and `""` mean the same: nothing to say, so
    /// that the fallback stands.
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>>;
}

/// How values are written where they stand. The owner's own text around them is not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// In a URL: everything but the unreserved characters of RFC 3986 is percent-encoded.
    Url,
    /// In HTML: `&`, `<`, `>`, `"` and `'` are escaped. Right for the content of an
    /// element and of a quoted attribute; not for scripts, styles, comments or bare attributes.
    Html,
    /// As it is, where text is all it can be.
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
    /// `value` as it may stand in such a place.
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
