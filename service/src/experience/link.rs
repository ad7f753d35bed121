//! Where a button leads.

use serde::{Deserialize, Serialize};

use crate::macros::{Target, TargetError};

/// Where a button leads. In JSON the URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Link {
    /// To a page: the rules are those of a redirect's target.
    Web(Target),
    /// To an address for mail (`mailto:`) or a telephone number (`tel:`): the
    /// owner's own text, without macros.
    Contact(String),
}

/// Why a link cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It has another scheme, or none.
    #[error("A link begins with http://, https://, mailto: or tel:.")]
    Scheme,
    /// It is a web page, but not a target that can be saved.
    #[error(transparent)]
    Target(TargetError),
    /// Mail or telephone, with characters that do not belong there.
    #[error("A mailto: or tel: link has an address without spaces, quotes, brackets or macros.")]
    Contact,
}

/// Longest `mailto:` or `tel:` link, in bytes.
const CONTACT_MAX: usize = 1000;

impl Link {
    /// Checks a link.
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
        if address.is_empty() || text.len() > CONTACT_MAX || !address.chars().all(plain) {
            return Err(LinkError::Contact);
        }
        Ok(Self::Contact(text.to_owned()))
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        match self {
            Self::Web(target) => target.source(),
            Self::Contact(text) => text,
        }
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
