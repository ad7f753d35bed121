//! The destination of a redirect experience.
//!
//! A target is an absolute `http` or `https` URL with macros in its path, query or fragment.
//! Invariants, whatever the values are:
//!
//! * Scheme, host and port are the owner's own: macros are allowed only after the first `/`, `?` or
//!   `#` after the host. The one exception is a target that consists of a single expression of
//!   `tag:attribute` and `tag:data` macros, which only the owner writes; its value must then be
//!   such a URL itself.
//! * A value is percent-encoded, so it never begins a path segment, a parameter or a fragment, and
//!   a segment it makes `.` or `..` is left empty: the path has the segments that the owner wrote.
//! * A location is ASCII without control characters or spaces.
//! * The owner's own text is kept byte by byte if it is valid in a URL (RFC 3986, with the `[`, `]`
//!   and repeated `#` that browsers accept); the rest of it is percent-encoded, and the host is
//!   encoded by IDNA.
//! * Without a rolling key a location has no parameter named `rk`.
//! * A location has at most [`LOCATION_MAX`] bytes. The owner's own text, its fallbacks and the key
//!   always have room: this is checked when a target is saved. Values that do not fit are replaced,
//!   those that strangers write first.

mod address;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Serialize, Serializer};

use super::template::{Expression, Part};
use super::{Encoding, Macro, Misspelt, Scope, Template};
use crate::text::read_by_parse;
use address::Address;

/// Longest target, in bytes of UTF-8.
pub const TARGET_MAX: usize = 4096;
/// Longest location, in bytes. With the other headers of an answer, such as the cookie, it stays
/// below the 4 KiB that nginx accepts by default. nginx answers longer headers with 502, so the
/// visitor would not be redirected.
pub const LOCATION_MAX: usize = 3584;

/// A redirect experience's target URL, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    template: Template,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// A URL with macros after its host.
    Address(Address),
    /// A single expression, whose value is the URL.
    Whole(Expression),
}

/// A target that has a URL, whatever its other values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled<'a> {
    target: &'a Target,
    address: Cow<'a, Address>,
}

/// The destination of a visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The URL. A valid header value of at most [`LOCATION_MAX`] bytes.
    pub url: String,
    /// The macros whose values did not fit, each once.
    pub left_out: Vec<Macro>,
}

/// Most parameters of a visitor's URL that are passed on.
const PASSED_MAX: usize = 64;
/// Longest name of a parameter in a trace, in characters.
const PASSED_NAME_MAX: usize = 64;

impl Location {
    /// The location with a visitor's `parameters` at the end of its query. A parameter that the
    /// query has already stays as it is, and one for which there is no room is left out.
    #[must_use]
    pub fn passing(mut self, parameters: &[(String, String)]) -> Self {
        if parameters.is_empty() {
            return self;
        }
        let (before, fragment) = match self.url.split_once('#') {
            Some((before, fragment)) => (before.to_owned(), Some(fragment.to_owned())),
            None => (self.url.clone(), None),
        };
        let own = before.split_once('?').map_or("", |(_, query)| query);
        let own: HashSet<String> = form_urlencoded::parse(own.as_bytes())
            .map(|(name, _)| name.into_owned())
            .collect();
        let room = LOCATION_MAX - fragment.as_ref().map_or(0, |fragment| fragment.len() + 1);
        let mut url = before;
        let new = parameters.iter().filter(|(name, _)| !own.contains(name));
        for (name, value) in new.take(PASSED_MAX) {
            let mark = match (url.contains('?'), url.ends_with(['?', '&'])) {
                (false, _) => "?",
                (true, true) => "",
                (true, false) => "&",
            };
            let encode = |text: &str| Encoding::Url.encode(Cow::Borrowed(text)).into_owned();
            let parameter = format!("{mark}{}={}", encode(name), encode(value));
            if url.len() + parameter.len() <= room {
                url += &parameter;
            } else {
                let name = name.chars().take(PASSED_NAME_MAX).collect();
                self.left_out.push(Macro::Query(name));
                break;
            }
        }
        if let Some(fragment) = fragment {
            url.push('#');
            url += &fragment;
        }
        self.url = url;
        self
    }
}

/// Why a target cannot be saved. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It has more than [`TARGET_MAX`] bytes.
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
    /// It has a control character, for example a line break.
    #[error("A target URL cannot contain line breaks, tabs or other control characters.")]
    ControlCharacter,
    /// It has a backslash, which browsers read as a slash but other programs do not.
    #[error("A target URL cannot contain a backslash. Write / in the path, or %5C in a parameter.")]
    Backslash,
    /// Its scheme is not `http` or `https`, or is missing.
    #[error("A target URL begins with http:// or https:// and the name of a host.")]
    NotHttp,
    /// Its host cannot exist, or its port is not a number.
    #[error("The target URL has an invalid host: {0}.")]
    Host(url::ParseError),
    /// It has a user name before its host, which can be mistaken for a host.
    #[error("A target URL cannot contain a user name or password before the host.")]
    UserInfo,
    /// A macro is part of its scheme, host or port, or adjacent to them.
    #[error(
        "A macro cannot be part of the scheme, host or port of a target URL. \
         Put it behind the first / after the host."
    )]
    MacroInHost,
    /// It is a single macro whose values the owner does not write.
    #[error(
        "Only a tag:attribute or tag:data macro can be a whole target URL. \
         A tag:variable cannot: visitors write it."
    )]
    WholeMacro,
    /// A macro in it can never have a value.
    #[error(transparent)]
    Macro(#[from] Misspelt),
    /// It is a single macro, and its fallback text is not a valid target URL.
    #[error("The fallback of the target URL is not a URL itself: {0}")]
    Fallback(Box<TargetError>),
}

impl Target {
    /// Checks and parses a target.
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

    /// Whether it has a macro for which `f` is true.
    pub fn uses(&self, f: impl Fn(&Macro) -> bool) -> bool {
        self.template.uses(f)
    }

    /// Whether it has a macro of a tag variable.
    pub fn uses_variables(&self) -> bool {
        self.uses(|name| matches!(name, Macro::TagVariable(_)))
    }

    /// The URL of the redirect, which is a valid header value.
    ///
    /// `rk` is the rolling key, which is also the value of `{{ interaction:rk }}`, whatever `scope`
    /// returns. If the target has no such macro, the key becomes the parameter `rk` of the query,
    /// and replaces parameters of this name. `rk` is `None` if no key was issued.
    ///
    /// Returns `None` if the target is a single macro whose value is not a valid target.
    pub fn expand(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<String> {
        self.location(scope, rk).map(|location| location.url)
    }

    /// Like [`expand`](Self::expand), with the macros that were left out.
    pub fn location(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<Location> {
        Some(self.settled(scope)?.location(scope, rk))
    }

    /// Every macro in it, in the order of the text.
    pub fn macros(&self) -> impl Iterator<Item = &Macro> {
        self.template.macros()
    }

    /// The target with its URL determined. This matters for a target that is a single macro: the
    /// URL is that macro's value. `None` if the value is not a valid target.
    pub fn settled<'a>(&'a self, scope: &dyn Scope) -> Option<Settled<'a>> {
        let address = match &self.shape {
            Shape::Address(address) => Cow::Borrowed(address),
            Shape::Whole(expression) => Cow::Owned(Address::of(&expression.value(scope)).ok()?),
        };
        let target = self;
        Some(Settled { target, address })
    }

    /// Whether it is a single macro whose value is the URL.
    pub fn is_whole(&self) -> bool {
        matches!(self.shape, Shape::Whole(_))
    }

    /// The URL of a link on a page: like [`expand`](Self::expand), but the rolling key is only
    /// where the owner placed it.
    pub fn link(&self, scope: &dyn Scope, rk: Option<&str>) -> Option<String> {
        let address = self.settled(scope)?.address;
        Some(address.expand(&Keyed { scope, rk }, rk, true).url)
    }
}

impl Settled<'_> {
    /// The destination of the visitor.
    pub fn location(&self, scope: &dyn Scope, rk: Option<&str>) -> Location {
        let placed = self.uses(|name| *name == Macro::InteractionRk);
        self.address.expand(&Keyed { scope, rk }, rk, placed)
    }

    /// Whether it still has a macro for which `f` is true.
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

read_by_parse!(Target);

/// The checks for every text that becomes a location.
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

/// A target that is a single expression: only the owner may write the values of its macros, and its
/// fallbacks must be URLs.
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

/// A scope in which the rolling key is the issued one.
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
