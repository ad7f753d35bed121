//! The values in a request.

use std::borrow::Cow;

use super::syntax::{Parameter, Pattern, Piece, decode};
use super::{Field, Filled, MalformedCode, Template};

/// The shortest and the longest slug, as a tag's slug is.
pub(super) const SLUG: std::ops::RangeInclusive<usize> = 6..=32;

/// A request as it arrived. Scheme and port are never compared: a proxy changes both.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Value of the `Host` header.
    pub host: &'a str,
    /// The path with its first `/`, percent-encoded as sent.
    pub path: &'a str,
    /// The query without `?`; empty if there is none.
    pub query: &'a str,
}

impl<'a> Request<'a> {
    /// The request that a URL makes; `None` if it has no host.
    pub fn of_url(url: &'a str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = address.find('/').unwrap_or(address.len());
        let (host, path) = address.split_at(slash);
        (!host.is_empty()).then_some(Self { host, path, query })
    }

    /// The intended path and query, if they differ from the sent ones: a closing slash is removed,
    /// and parameters after an `&` in the last segment get their missing `?`. Apps and campaigns
    /// append their parameters in this way to URLs without a query.
    pub fn forgiven(&self) -> Option<(&'a str, Cow<'a, str>)> {
        let path = self.path.strip_suffix('/').unwrap_or(self.path);
        let last = path.rfind('/').map_or(0, |slash| slash + 1);
        let (path, more) = match path[last..].find('&') {
            Some(at) => (&path[..last + at], &path[last + at + 1..]),
            None => (path, ""),
        };
        let query = match (more, self.query) {
            ("", query) => Cow::Borrowed(query),
            (more, "") => Cow::Borrowed(more),
            (more, query) => Cow::Owned(format!("{more}&{query}")),
        };
        (path.len() < self.path.len()).then_some((path, query))
    }
}

/// The values of a request at a template's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressed {
    /// The slug, if the template has one.
    pub slug: Option<String>,
    /// The code; `None` if the request has no value for any placeholder of a code.
    pub code: Result<Option<Filled>, MalformedCode>,
}

/// The values of one segment or parameter.
pub(super) type Values<'t> = Vec<(Field, &'t str)>;

impl Template {
    /// The values of the request; `None` if it is not at this template's address. In names, values
    /// and the path, percent-encoded characters count as the characters that they stand for.
    pub fn read(&self, request: &Request<'_>) -> Option<Addressed> {
        let mut found = Found::default();
        let host = host_without_port(request.host).to_ascii_lowercase();
        found.add(self.values(&self.parts.host, &host)?);

        let path = request.path.strip_prefix('/').unwrap_or(request.path);
        let segments: Vec<String> = path.split('/').map(decode).collect();
        if segments.len() != self.parts.path.len() {
            return None;
        }
        for (pattern, segment) in self.parts.path.iter().zip(&segments) {
            found.add(self.values(pattern, segment)?);
        }

        let sent: Vec<_> = form_urlencoded::parse(request.query.as_bytes()).collect();
        for parameter in &self.parts.query {
            self.parameter(parameter, &sent, &mut found)?;
        }
        Some(self.addressed(found))
    }

    /// Reads one parameter; `None` if it is part of the address and differs from it.
    fn parameter(
        &self,
        parameter: &Parameter,
        sent: &[(Cow<'_, str>, Cow<'_, str>)],
        found: &mut Found,
    ) -> Option<()> {
        let has_code = |piece: &Piece| matches!(piece, Piece::Field(field) if field.is_of_code());
        let of_code = parameter.value.iter().any(has_code)
            && !parameter.value.contains(&Piece::Field(Field::Slug));
        let fits = |text: &&str| self.values(&parameter.value, text).is_some();
        let texts: Vec<&str> = if let Some(name) = &parameter.name {
            let named = sent.iter().filter(|(sent, _)| sent == name);
            named.map(|(_, value)| &**value).collect()
        } else {
            let bare = sent.iter().filter(|(_, value)| value.is_empty());
            bare.map(|(name, _)| &**name).filter(fits).collect()
        };
        let name = || parameter.name.clone().unwrap_or_default();
        match texts.as_slice() {
            [] if of_code => {}
            [text] => match self.values(&parameter.value, text) {
                Some(values) => found.add(values),
                None if of_code => found.fault(MalformedCode::Shape(name())),
                None => return None,
            },
            [_, ..] if of_code => found.fault(MalformedCode::Repeated(name())),
            _ => return None,
        }
        Some(())
    }

    fn addressed(&self, found: Found) -> Addressed {
        let Found { slug, code, fault } = found;
        let in_code = |field: &Field| field.is_of_code() && self.has(*field);
        let mut missing = Field::ALL.into_iter().filter(in_code);
        let missing = missing.find(|&field| code.get(field).is_none());
        let code = match (fault, missing) {
            (Some(fault), _) => Err(fault),
            (None, Some(_)) if code == Filled::default() => Ok(None),
            (None, Some(field)) => Err(MalformedCode::Missing(field)),
            (None, None) => {
                let family = self.settings().technology.family();
                code.well_formed(family).map(|()| Some(code))
            }
        };
        Addressed { slug, code }
    }

    /// The values in a text that has the pattern's literal text and lengths. At most one piece has
    /// a variable length, so there is only one way to read the text, and no search.
    pub(super) fn values<'t>(&self, pattern: &Pattern, text: &'t str) -> Option<Values<'t>> {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.len()),
            Piece::Field(field) => self.length(*field),
        };
        let fixed: usize = pattern.iter().filter_map(length).sum();
        let variable = text.len().checked_sub(fixed)?;
        if variable > 0 && pattern.iter().all(|piece| length(piece).is_some()) {
            return None;
        }
        let mut values = Vec::new();
        let mut rest = text;
        for piece in pattern {
            // `None` if the value would end inside of a character of several bytes.
            let (value, after) = rest.split_at_checked(length(piece).unwrap_or(variable))?;
            rest = after;
            match piece {
                Piece::Text(text) if text == value => {}
                Piece::Text(_) => return None,
                Piece::Field(Field::Slug) if !is_slug(value) => return None,
                Piece::Field(field) => values.push((*field, value)),
            }
        }
        Some(values)
    }
}

/// The values found up to this point.
#[derive(Default)]
struct Found {
    slug: Option<String>,
    code: Filled,
    /// The first error in the code.
    fault: Option<MalformedCode>,
}

impl Found {
    fn add(&mut self, values: Values<'_>) {
        for (field, value) in values {
            match field {
                Field::Slug => self.slug = Some(value.to_owned()),
                Field::Any => {}
                _ => self.code.set(field, value),
            }
        }
    }

    fn fault(&mut self, fault: MalformedCode) {
        self.fault.get_or_insert(fault);
    }
}

/// Whether a tag could have this slug.
fn is_slug(text: &str) -> bool {
    SLUG.contains(&text.len()) && text.bytes().all(is_slug_byte)
}

pub(super) fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// The name in a `Host` header, without its port, which may be empty (RFC 3986, section 3.2.3), and
/// without the final dot.
pub fn host_without_port(host: &str) -> &str {
    let port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, digits)) if port(digits) => name,
        _ => host,
    };
    // A name with a final dot is the same host, as a fully qualified name (RFC 1034, section 3.1).
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_slash_and_parameters_without_a_question_mark_are_forgiven() {
        for (path, query, meant) in [
            ("/t/k3v9qa", "", None),
            ("/t/k3v9qa", "&brid=abc", None),
            ("/t/k3v9qa/", "", Some(("/t/k3v9qa", ""))),
            ("/t/k3v9qa//", "", Some(("/t/k3v9qa/", ""))),
            ("/t/k3v9qa&brid=abc", "", Some(("/t/k3v9qa", "brid=abc"))),
            (
                "/t/k3v9qa&a=1&b=2",
                "c=3",
                Some(("/t/k3v9qa", "a=1&b=2&c=3")),
            ),
            ("/t/k3v9qa&a=1/", "", Some(("/t/k3v9qa", "a=1"))),
            ("/t/k3v9qa&", "c=3", Some(("/t/k3v9qa", "c=3"))),
            ("/t&x/k3v9qa", "", None),
            ("/t/%26a=1", "", None),
            ("/", "", Some(("", ""))),
        ] {
            let request = Request {
                host: "tags.example.com",
                path,
                query,
            };
            let found = request.forgiven();
            let found = found.as_ref().map(|(path, query)| (*path, &**query));
            assert_eq!(found, meant, "{path}?{query}");
        }
    }
}
