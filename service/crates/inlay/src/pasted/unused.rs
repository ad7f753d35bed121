//! The pieces of a pasted text that were not used. Each has its reason: a person who pasted five
//! URLs and sees an answer from four looks for the fifth.

use std::fmt;

use super::URLS_MAX;

/// The longest piece of text that is named whole, in characters.
const TEXT_MAX: usize = 300;

/// A piece of a text that was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The piece, cut to 300 characters.
    pub text: String,
    /// Why it was not used.
    pub why: Unusable,
}

/// Why a piece of a text was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is no URL.
    Words,
    /// The URL was in the text before.
    Repeated,
    /// [`URLS_MAX`] URLs were read before it.
    TooMany,
    /// It has no scheme.
    NoScheme,
    /// It has a scheme other than `http`, `https` and `lnurlw`.
    NoWebAddress {
        /// Scheme, as the URL has it.
        scheme: String,
    },
    /// No chip holds so long a URL.
    TooLong,
    /// A value is shorter or longer than any that a chip writes.
    Cut {
        /// The parameter, or the path segment itself.
        name: String,
        /// How many hex digits there are.
        digits: usize,
    },
    /// No supported chip makes such a URL.
    NoCode,
    /// It has another form than the URLs that were used.
    OtherForm,
    /// The code verifies with none of the keys.
    NoKey,
}

impl Unused {
    pub(crate) fn new(text: &str, why: Unusable) -> Self {
        let mut short: String = text.chars().take(TEXT_MAX).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        Self { text: short, why }
    }
}

impl Unusable {
    /// The word for this reason in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Repeated => "repeated",
            Self::TooMany => "too_many",
            Self::NoScheme => "no_scheme",
            Self::NoWebAddress { .. } => "no_web_address",
            Self::TooLong => "too_long",
            Self::Cut { .. } => "cut",
            Self::NoCode => "no_code",
            Self::OtherForm => "other_form",
            Self::NoKey => "no_key",
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str("no URL"),
            Self::Repeated => f.write_str("the same URL as one before it"),
            Self::TooMany => write!(f, "more than {URLS_MAX} URLs: only the first are read"),
            Self::NoScheme => f.write_str("no web address: https:// is missing"),
            Self::NoWebAddress { scheme } => write!(f, "{scheme}:// is no web address"),
            Self::TooLong => f.write_str("longer than a chip can hold"),
            Self::Cut { name, digits } => {
                write!(f, "\"{name}\" has {digits} hex digits: not the whole value")
            }
            Self::NoCode => f.write_str("no chip that Tapdesk knows makes such a URL"),
            Self::OtherForm => {
                f.write_str("another form than the URLs that were used: search for it separately")
            }
            Self::NoKey => f.write_str("its code verifies with none of the keys"),
        }
    }
}
