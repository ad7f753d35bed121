//! Where a redirect experience leads.
//!
//! A target is an absolute `http` or `https` URL with macros in its path, query
//! or fragment. Invariants, whatever the values are:
//!
//! * Scheme, host and port are the owner's own: macros stand only behind the
//!   first `/`, `?` or `#` after the host. The one exception is a target that
//!   is nothing but one expression of `tag:attribute` and `tag:data` macros,
//!   which only the owner writes; its value must then be such a URL itself.
//! * A value is percent-encoded, so it never begins a path segment, a parameter
//!   or a fragment, and a segment it makes `.` or `..` is left empty: the path
//!   has the segments that the owner wrote.
//! * A location is ASCII without control characters or spaces.
//! * The owner's own text is kept byte by byte as far as it is valid in a URL
//!   (RFC 3986, with the `[`, `]` and repeated `#` that browsers let pass); the
//!   rest of it is percent-encoded, the host as IDNA says.
//! * Without a rolling key a location has no parameter named `rk`.
//! * A location has at most [`LOCATION_MAX`] bytes. The owner's own text, its
//!   fallbacks and the key always have room, which is seen to as a target is
//!   saved; values give way, those that strangers write first.

mod address;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::template::{Expression, Part};
use super::{Macro, Scope, Template};
use address::Address;

/// Longest target, in bytes of UTF-8.
pub const TARGET_MAX: usize = 4096;
/// Longest location, in bytes. With the rest of an answer's head, the cookie for
/// one, it stays below the 4 KiB that nginx reads of a head unless it is told
/// otherwise: a longer one is answered with 502, and the tag leads nowhere.
pub const LOCATION_MAX: usize = 3584;

/// A redirect experience's target URL, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    template: Template,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// A URL with macros behind its host.
    Address(Address),
    /// One expression, whose value is the URL.
    Whole(Expression),
}

/// A target that leads somewhere, whatever its other values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled<'a> {
    target: &'a Target,
    address: Cow<'a, Address>,
}

/// Where a visitor is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The URL. A valid header value of at most [`LOCATION_MAX`] bytes.
    pub url: String,
    /// The macros whose values it had no room for, each once.
    pub left_out: Vec<Macro>,
}

/// Why a target cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Longer than [`TARGET_MAX`].
    #[error("A target URL can have at most {TARGET_MAX} bytes.")]
    TooLong,
    /// Too long for a redirect, whatever its values are.
    #[error(
        "A target URL can have at most {LOCATION_MAX} bytes once its own text is percent-encoded, \
         with its fallbacks and the rolling key."
    )]
    NoRoom,
    /// It begins or ends with white space.
    #[error("A target URL cannot begin or end with a space.")]
    SurroundingSpace,
    /// It holds a control character, a line break for one.
    #[error("A target URL cannot contain line breaks, tabs or other control characters.")]
    ControlCharacter,
    /// It holds a backslash, which browsers take for a slash and others do not.
    #[error("A target URL cannot contain a backslash. Write / in the path, or %5C in a parameter.")]
    Backslash,
    /// Its scheme is another, or it has none.
    #[error("A target URL begins with http:// or https:// and the name of a host.")]
    NotHttp,
    /// Its host does not exist in any network, or its port is no number.
    #[error("The target URL has an invalid host: {0}.")]
    Host(url::ParseError),
    /// It has a user name before its host, which looks like a host itself.
    #[error("A target URL cannot contain a user name or password before the host.")]
    UserInfo,
    /// A macro stands in, or touches, its scheme, host or port.
    #[error(
        "A macro cannot be part of the scheme, host or port of a target URL. \
         Put it behind the first / after the host."
    )]
    MacroInHost,
    /// It is one macro, but of a kind that is not an owner's URL.
    #[error(
        "Only a tag:attribute or tag:data macro can be a whole target URL. \
         A tag:variable cannot: visitors write it."
    )]
    WholeMacro,
    /// It is one macro, and the text that stands in for it is no target URL.
    #[error("The fallback of the target URL is not a URL itself: {0}")]
    Fallback(Box<TargetError>),
}

impl Target {
    /// Checks a target.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        check(text)?;
        let template = Template::parse(text);
        let shape = match template.parts() {
            [Part::Expression(expression)] => whole(expression)?,
            parts => Shape::Address(Address::new(parts)?),
        };
        Ok(Self { template, shape })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        self.template.source()
    }

    /// Whether it has a macro that `f` holds for.
    pub fn uses(&self, f: impl Fn(&Macro) -> bool) -> bool {
        self.template.uses(f)
    }

    /// Whether it has a macro of a tag variable.
    pub fn uses_variables(&self) -> bool {
        self.uses(|name| matches!(name, Macro::TagVariable(_)))
    }

    /// The URL that a visitor is sent to. A valid header value.
    ///
    /// `rk` is the rolling key, the value of `{{ interaction:rk }}` whatever
    /// `scope` says; if the target has no such macro, it is set as the
    /// parameter `rk` of the query, in the place of parameters of this name. It is
    /// `None` if no key was issued.
    ///
    /// `None` if the target is one macro and its value no URL that could be saved as a target.
    pub fn expand(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<String> {
        self.location(scope, rk).map(|location| location.url)
    }

    /// As [`expand`](Self::expand), and what it left out.
    pub fn location(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<Location> {
        Some(self.settled(scope)?.location(scope, rk))
    }

    /// Every macro in it, in the order of the text.
    pub fn macros(&self) -> impl Iterator<Item = &Macro> {
        self.template.macros()
    }

    /// The target with its URL settled, which is open if it is one macro: that
    /// macro's value. `None` if the value is no URL that could be saved as a target.
    pub fn settled<'a>(&'a self, scope: &dyn Scope) -> Option<Settled<'a>> {
        let address = match &self.shape {
            Shape::Address(address) => Cow::Borrowed(address),
            Shape::Whole(expression) => Cow::Owned(Address::of(&expression.value(scope)).ok()?),
        };
        let target = self;
        Some(Settled { target, address })
    }

    /// Whether it is one macro, whose value is the URL.
    pub fn is_whole(&self) -> bool {
        matches!(self.shape, Shape::Whole(_))
    }

    /// The URL of a link on a page: as [`expand`](Self::expand), but the rolling
    /// key is only where the owner put it.
    pub fn link(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<String> {
        let address = self.settled(scope)?.address;
        Some(address.expand(&Keyed { scope, rk }, rk, true).url)
    }
}

impl Settled<'_> {
    /// Where a visitor is sent.
    pub fn location(&self, scope: &dyn Scope, rk: Option<&str>) -> Location {
        let placed = self.uses(|name| *name == Macro::InteractionRk);
        self.address.expand(&Keyed { scope, rk }, rk, placed)
    }

    /// Whether it has a macro left that `f` holds for.
    pub fn uses(&self, f: impl Fn(&Macro) -> bool) -> bool {
        !self.target.is_whole() && self.target.uses(f)
    }
}

/// The text it was read from.
impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// What holds for every text that is to become a location.
fn check(text: &str) -> Result<(), TargetError> {
    if text.len() > TARGET_MAX {
        Err(TargetError::TooLong)
    } else if text.contains(char::is_control) {
        Err(TargetError::ControlCharacter)
    } else if text.trim().len() < text.len() {
        Err(TargetError::SurroundingSpace)
    } else {
        Ok(())
    }
}

/// A target that is one expression: its macros are those that only the owner
/// writes, its fallbacks URLs.
fn whole(expression: &Expression) -> Result<Shape, TargetError> {
    let owned = |name: &Macro| matches!(name, Macro::TagAttribute(_) | Macro::TagData(_));
    if expression.macros().next().is_none() || !expression.macros().all(owned) {
        return Err(TargetError::WholeMacro);
    }
    for text in expression.texts() {
        Address::of(text).map_err(|error| TargetError::Fallback(Box::new(error)))?;
    }
    Ok(Shape::Whole(expression.clone()))
}

/// A scope in which the rolling key is the one that was issued.
struct Keyed<'a> {
    scope: &'a dyn Scope,
    rk: Option<&'a str>,
}

impl Scope for Keyed<'_> {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        match name {
            Macro::InteractionRk => self.rk.map(Cow::from),
            name => self.scope.value(name),
        }
    }
}
