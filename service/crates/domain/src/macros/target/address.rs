//! A URL in the parts that a redirect needs: the origin unchanged, the path in segments, and the
//! rest.

mod room;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, ParseError, Url};

use super::{LOCATION_MAX, Location, TargetError, check};
use crate::macros::template::{Expression, Part};
use crate::macros::{Encoding, RESERVED, Scope, url_length};
use room::Values;

/// A URL whose literal parts are already valid in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// `https://example.com:8443`: no user name, no path.
    origin: String,
    /// The segments of the path, each without its slash. At least one.
    path: Vec<Vec<Part>>,
    /// Query and fragment, from `?` or `#` on.
    tail: Vec<Part>,
    /// Bytes that do not come from values: the owner's text, and room for the key's parameter.
    written: usize,
}

/// The key as a separate parameter, after `?` or `&`.
const KEY_PARAMETER: usize = "&rk=".len() + KEY;
/// Bytes of a rolling key, which needs no encoding.
const KEY: usize = 44;

impl Address {
    /// The address in a value that is a whole URL. Braces in it have no special meaning.
    pub(super) fn of(text: &str) -> Result<Self, TargetError> {
        check(text)?;
        Self::new(&[Part::Literal(text.to_owned())])
    }

    /// The address of a template.
    pub(super) fn new(parts: &[Part]) -> Result<Self, TargetError> {
        let (first, rest) = match parts {
            [Part::Literal(first), rest @ ..] => (first.as_str(), rest),
            [Part::Expression(_), ..] => return Err(TargetError::MacroInHost),
            [] => return Err(TargetError::NotHttp),
        };
        let backslash = |part: &Part| matches!(part, Part::Literal(text) if text.contains('\\'));
        if parts.iter().any(backslash) {
            return Err(TargetError::Backslash);
        }
        let (scheme, after) = first.split_once("://").ok_or(TargetError::NotHttp)?;
        if !["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
        {
            return Err(TargetError::NotHttp);
        }
        let end = after.find(['/', '?', '#']);
        if end.is_none() && !rest.is_empty() {
            return Err(TargetError::MacroInHost);
        }
        let (authority, behind) = after.split_at(end.unwrap_or(after.len()));
        if authority.contains('@') {
            return Err(TargetError::UserInfo);
        }

        let mut address = Self {
            origin: origin(scheme, authority).map_err(TargetError::Host)?,
            path: vec![Vec::new()],
            tail: Vec::new(),
            written: 0,
        };
        address.literal(behind.strip_prefix('/').unwrap_or(behind));
        for part in rest {
            match part {
                Part::Literal(text) => address.literal(text),
                part @ Part::Expression(_) => address.last().push(part.clone()),
            }
        }
        address.written = address.origin.len() + address.path.len() + KEY_PARAMETER;
        address.written += address.parts().map(literal_length).sum::<usize>();
        let reserved: usize = address.expressions().map(room::reserved).sum();
        if address.written + reserved > LOCATION_MAX {
            return Err(TargetError::NoRoom);
        }
        Ok(address)
    }

    /// Its parts, in the order of the text.
    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.path.iter().flatten().chain(&self.tail)
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Expression(expression) => Some(expression),
        })
    }

    /// Appends the owner's text.
    fn literal(&mut self, text: &str) {
        let in_path = self.tail.is_empty();
        let end = text.find(['?', '#']).filter(|_| in_path);
        let (path, tail) = match end {
            Some(end) => text.split_at(end),
            None if in_path => (text, ""),
            None => ("", text),
        };
        for (slashes, segment) in path.split('/').enumerate() {
            if slashes > 0 {
                self.path.push(Vec::new());
            }
            if !segment.is_empty() {
                self.last().push(Part::Literal(literal(segment)));
            }
        }
        if !tail.is_empty() {
            self.tail.push(Part::Literal(literal(tail)));
        }
    }

    /// The place for the next part: the tail once it has begun, else the last segment.
    fn last(&mut self) -> &mut Vec<Part> {
        match self.path.last_mut() {
            Some(segment) if self.tail.is_empty() => segment,
            _ => &mut self.tail,
        }
    }

    /// The URL with its values, and with the key in its query. `placed`: the template already has a
    /// macro for the key.
    pub(super) fn expand(&self, scope: &dyn Scope, rk: Option<&str>, placed: bool) -> Location {
        let mut values = Values::of(self.expressions(), scope);
        let left_out = values.fit(LOCATION_MAX - self.written);
        let mut values = values.into_texts();
        let mut fill = |out: &mut String, parts: &[Part]| {
            for part in parts {
                match part {
                    Part::Literal(text) => *out += text,
                    Part::Expression(_) => out.extend(utf8_percent_encode(
                        &values.next().unwrap_or_default(),
                        &RESERVED,
                    )),
                }
            }
        };
        let mut location = self.origin.clone();
        for segment in &self.path {
            location.push('/');
            let start = location.len();
            fill(&mut location, segment);
            let written = segment.iter().all(|part| matches!(part, Part::Literal(_)));
            if !written && is_dots(&location[start..]) {
                location.truncate(start);
            }
        }
        let mut tail = String::new();
        fill(&mut tail, &self.tail);
        let (query, fragment) = match tail.split_once('#') {
            Some((query, fragment)) => (query, Some(fragment)),
            None => (tail.as_str(), None),
        };
        let query = query.strip_prefix('?').unwrap_or_default();
        let query = match rk {
            Some(_) if placed => query.to_owned(),
            rk => with_rk(query, rk),
        };
        if !query.is_empty() {
            location.push('?');
            location += &query;
        }
        if let Some(fragment) = fragment {
            location.push('#');
            location += fragment;
        }
        Location {
            url: location,
            left_out,
        }
    }
}

fn literal_length(part: &Part) -> usize {
    match part {
        Part::Literal(text) => text.len(),
        Part::Expression(_) => 0,
    }
}

/// The origin, such as `https://example.com:8443`, with the host in ASCII.
fn origin(scheme: &str, authority: &str) -> Result<String, ParseError> {
    // The slash stops the parser from trimming the authority.
    let url = Url::parse(&format!("{scheme}://{authority}/"))?;
    // The parser accepts quotes and braces, which no name in the DNS has.
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match url.host() {
        None => Err(ParseError::EmptyHost),
        Some(Host::Domain(name)) if !name.chars().all(named) => {
            Err(ParseError::InvalidDomainCharacter)
        }
        Some(_) => Ok(url.origin().ascii_serialization()),
    }
}

/// The characters that are not valid in a URL, besides `%` and non-ASCII ones.
const INVALID: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The owner's text in a form that is valid in a URL. Valid text is kept, escapes included. A `%`
/// that begins no escape within the text itself is escaped, so that it cannot form one with a
/// following value.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (percents, run) in text.split('%').enumerate() {
        let escape =
            matches!(run.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
        out += match (percents, escape) {
            (0, _) => "",
            (_, true) => "%",
            (_, false) => "%25",
        };
        out.extend(utf8_percent_encode(run, &INVALID));
    }
    out
}

/// Whether URL parsers would resolve a segment instead of keeping it: `.` or `..`, where a dot can
/// also be `%2e`.
fn is_dots(segment: &str) -> bool {
    matches!(
        segment.to_ascii_lowercase().replace("%2e", ".").as_str(),
        "." | ".."
    )
}

/// `query` with the key as its only parameter named `rk`, or with no such parameter. The other
/// parameters keep their order and their bytes.
fn with_rk(query: &str, rk: Option<&str>) -> String {
    let key = rk.map(|rk| format!("rk={}", Encoding::Url.encode(rk.into())));
    let mut key = key.as_deref();
    let mut parameters = Vec::new();
    for parameter in query.split('&') {
        if form_urlencoded::parse(parameter.as_bytes()).any(|(name, _)| name == "rk") {
            parameters.extend(key.take());
        } else {
            parameters.push(parameter);
        }
    }
    if let Some(key) = key {
        parameters.pop_if(|last| last.is_empty());
        parameters.push(key);
    }
    parameters.join("&")
}
