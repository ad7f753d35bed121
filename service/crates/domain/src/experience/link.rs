//! The destination of a button.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::macros::{Encoding, Macro, Scope, Target, TargetError, Template};

/// The destination of a button. In JSON it is the URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Link {
    /// A web page: the rules for a redirect's target apply.
    Web(Target),
    /// A mail address (`mailto:`) or a telephone number (`tel:`). The address is the owner's own
    /// text; macros are allowed only after its `?`.
    Contact(Template),
}

/// Why a link cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It has another scheme, or no scheme.
    #[error("A link begins with http://, https://, mailto: or tel:.")]
    Scheme,
    /// It is a web page, but not a valid target.
    #[error(transparent)]
    Target(TargetError),
    /// The mail address or telephone number has characters that are not allowed there.
    #[error(
        "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. \
         Macros are allowed only after its ?, for example in a subject."
    )]
    Contact,
}

/// Longest `mailto:` or `tel:` link, in bytes.
const CONTACT_MAX: usize = 1000;

impl Link {
    /// Checks and parses a link.
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let Some(address) = ["mailto:", "tel:"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
        else {
            return match Target::parse(text) {
                Ok(target) => Ok(Self::Web(target)),
                Err(TargetError::NotHttp) => Err(LinkError::Scheme),
                Err(error) => Err(LinkError::Target(error)),
            };
        };
        let plain = |c: char| c.is_ascii_graphic() && !r#""'<>[]{}\^`|"#.contains(c);
        let (address, parameters) = address.split_once('?').unwrap_or((address, ""));
        let written = Template::parse(parameters).render(&Nothing, Encoding::Url);
        let is_plain = address.chars().all(plain) && written.chars().all(plain);
        if address.is_empty() || text.len() > CONTACT_MAX || !is_plain {
            return Err(LinkError::Contact);
        }
        Ok(Self::Contact(Template::parse(text)))
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        match self {
            Self::Web(target) => target.source(),
            Self::Contact(template) => template.source(),
        }
    }

    /// The URL with the values of its macros. `None` if the link is a single macro whose value is
    /// not a valid URL.
    pub fn href(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<String> {
        match self {
            Self::Web(target) => target.link(scope, rk),
            // A line break in a subject could end the header, so control characters become spaces.
            Self::Contact(template) => Some(template.render(&OneLine(scope), Encoding::Url)),
        }
    }
}

/// A scope without values: the result of a template is only the owner's own text.
struct Nothing;

impl Scope for Nothing {
    fn value(&self, _: &Macro) -> Option<Cow<'_, str>> {
        None
    }
}

/// A scope in which every control character is a space.
struct OneLine<'a>(&'a dyn Scope);

impl Scope for OneLine<'_> {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        let value = self.0.value(name)?;
        if value.contains(char::is_control) {
            return Some(value.replace(char::is_control, " ").into());
        }
        Some(value)
    }
}

impl TryFrom<String> for Link {
    type Error = LinkError;

    fn try_from(text: String) -> Result<Self, LinkError> {
        Self::parse(&text)
    }
}

impl From<Link> for String {
    fn from(link: Link) -> Self {
        link.source().to_owned()
    }
}
