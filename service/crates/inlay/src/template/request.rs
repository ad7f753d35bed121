//! The values in a request.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::syntax::{Parameter, Pattern, Piece, decode};
use super::{Field, Filled, MalformedCode, Template};
use crate::slug::is_slug;

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
    /// append their parameters in this way to URLs without a query, with or without a closing
    /// slash.
    pub fn forgiven(&self) -> Option<(&'a str, Cow<'a, str>)> {
        let path = self.path.strip_suffix('/').unwrap_or(self.path);
        let last = path.rfind('/').map_or(0, |slash| slash + 1);
        let (path, more) = match path[last..].find('&') {
            Some(0) => (
                path[..last].strip_suffix('/').unwrap_or(""),
                &path[last + 1..],
            ),
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

    /// The decoded parts, which are compared with any number of templates.
    pub fn decoded(&self) -> Decoded<'a> {
        let path = self.path.strip_prefix('/').unwrap_or(self.path);
        Decoded {
            host: host_name(self.host),
            path: path.split('/').map(decode).collect(),
            query: form_urlencoded::parse(self.query.as_bytes()).collect(),
            in_any_case: false,
        }
    }
}

/// The decoded parts of a request.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The name in the `Host` header, as [`host_name`] returns it.
    pub host: String,
    /// The segments between the slashes.
    path: Vec<String>,
    /// Names and values of the parameters, in their order.
    query: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Whether the path and the names of parameters are compared without regard to the case of ASCII
    /// letters.
    in_any_case: bool,
}

impl Decoded<'_> {
    /// The same request, whose path and parameters also match literal text in another case: QR codes
    /// in capitals are smaller. Only for a request that fills no template as it is.
    #[must_use]
    pub fn in_any_case(mut self) -> Self {
        self.in_any_case = true;
        self
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

impl Addressed {
    /// Whether the request has all values of the template's code. Of a template without a code, it
    /// always has.
    pub const fn is_complete(&self) -> bool {
        matches!(self.code, Ok(Some(_)))
    }
}

/// The values of one segment or parameter.
pub(super) type Values<'t> = Vec<(Field, &'t str)>;

impl Template {
    /// The values of the request; `None` if it is not at this template's address. In names, values
    /// and the path, percent-encoded characters count as the characters that they stand for.
    pub fn read(&self, request: &Request<'_>) -> Option<Addressed> {
        self.read_decoded(&request.decoded())
    }

    /// Like [`Self::read`], for a request that several templates read.
    pub fn read_decoded(&self, sent: &Decoded<'_>) -> Option<Addressed> {
        // Compared first, because they decide for most templates.
        if sent.path.len() != self.parts.path.len() {
            return None;
        }
        let mut found = Found::default();
        found.add(self.host_values(&sent.host)?);
        for (pattern, segment) in self.parts.path.iter().zip(&sent.path) {
            found.add(self.values_in(pattern, segment, sent.in_any_case)?);
        }
        for parameter in &self.parts.query {
            self.parameter(parameter, sent, &mut found)?;
        }
        Some(self.addressed(found))
    }

    /// Whether a path, percent-encoded as it was sent, is this template's in any case.
    pub fn has_path(&self, path: &str) -> bool {
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: Vec<_> = path.split('/').map(decode).collect();
        let mut both = self.parts.path.iter().zip(&segments);
        segments.len() == self.parts.path.len()
            && both.all(|(pattern, segment)| self.values_in(pattern, segment, true).is_some())
    }

    /// Whether a parameter of a request is one of the template's own, by its name in any case, or by
    /// its form if the template gives it no name. A slash behind it makes no difference: it would
    /// otherwise carry a code to another server.
    pub fn has_parameter(&self, name: &str, value: &str) -> bool {
        let bare = name.strip_suffix('/').unwrap_or(name);
        self.parts.query.iter().any(|own| {
            if let Some(own) = &own.name {
                return own.eq_ignore_ascii_case(name);
            }
            let fits = |text: &str| self.values_in(&own.value, text, true).is_some();
            value.is_empty() && (fits(name) || fits(bare))
        })
    }

    /// The values of a host in lower case and without a port. A slug there is one label.
    pub(super) fn host_values<'t>(&self, host: &'t str) -> Option<Values<'t>> {
        let values = self.values(&self.parts.host, host)?;
        let is_label = |(_, value): &(Field, &str)| !value.contains('.');
        values.iter().all(is_label).then_some(values)
    }

    /// Reads one parameter; `None` if it is part of the address and differs from it.
    fn parameter(
        &self,
        parameter: &Parameter,
        sent: &Decoded<'_>,
        found: &mut Found,
    ) -> Option<()> {
        let has_code = |piece: &Piece| matches!(piece, Piece::Field(field) if field.is_of_code());
        let of_code = parameter.value.iter().any(has_code)
            && !parameter.value.contains(&Piece::Field(Field::Slug));
        let any_case = sent.in_any_case;
        let fits = |text: &&str| self.values_in(&parameter.value, text, any_case).is_some();
        let texts: Vec<&str> = if let Some(name) = &parameter.name {
            let is_name =
                |other: &str| other == name || (any_case && other.eq_ignore_ascii_case(name));
            let named = sent.query.iter().filter(|(other, _)| is_name(other));
            named.map(|(_, value)| &**value).collect()
        } else {
            let bare = sent.query.iter().filter(|(_, value)| value.is_empty());
            bare.map(|(name, _)| &**name).filter(fits).collect()
        };
        let name = || parameter.name.clone().unwrap_or_default();
        match texts.as_slice() {
            [] if of_code => {}
            [text] => match self.values_in(&parameter.value, text, any_case) {
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
        self.values_in(pattern, text, false)
    }

    /// The same; with `any_case`, literal text may be in another case.
    fn values_in<'t>(
        &self,
        pattern: &Pattern,
        text: &'t str,
        any_case: bool,
    ) -> Option<Values<'t>> {
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
                Piece::Text(text) if any_case && text.eq_ignore_ascii_case(value) => {}
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

/// The name in a `Host` header without its port, in lower case. An IPv6 address has many spellings
/// (RFC 4291, section 2.2), of which this is always the same one.
pub fn host_name(host: &str) -> String {
    let name = host_without_port(host).to_ascii_lowercase();
    ipv6_host(&name).unwrap_or(name)
}

/// An IPv6 address in brackets, in its usual spelling; `None` if it is none.
pub(super) fn ipv6_host(name: &str) -> Option<String> {
    let address = name.strip_prefix('[')?.strip_suffix(']')?;
    let address: Ipv6Addr = address.parse().ok()?;
    Some(format!("[{address}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Technology;
    use crate::template::TemplateSettings;

    #[test]
    fn a_host_is_named_without_its_port_and_in_one_spelling() {
        for (host, name) in [
            ("TAGS.Example:8443", "tags.example"),
            ("my_tags.example.", "my_tags.example"),
            ("192.0.2.1:80", "192.0.2.1"),
            ("[2001:DB8:0:0::1]:8080", "[2001:db8::1]"),
            ("[2001:db8::1]", "[2001:db8::1]"),
            ("[::ffff:c000:201]", "[::ffff:192.0.2.1]"),
            ("[::ffff:192.0.2.1]:", "[::ffff:192.0.2.1]"),
            ("[fe80::1%25eth0]", "[fe80::1%25eth0]"),
            ("[::", "[:"),
        ] {
            assert_eq!(host_name(host), name, "{host}");
        }
    }

    #[test]
    fn a_code_without_a_name_is_the_templates_own_in_any_spelling_that_is_forgiven() {
        let settings = TemplateSettings::new(
            "https://x.example/{slug}?m{picc}x{mac}",
            Technology::Ntag424Dna,
        );
        let template = Template::new(settings).unwrap();
        let code = format!("m{}x{}", "0".repeat(32), "A".repeat(16));
        for own in [code.clone(), format!("{code}/"), code.to_uppercase() + "/"] {
            assert!(template.has_parameter(&own, ""), "{own}");
        }
        for other in ["m/".to_owned(), format!("{code}//"), format!("{code}0")] {
            assert!(!template.has_parameter(&other, ""), "{other}");
        }
    }

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
            ("/t/k3v9qa/&a=1", "c=3", Some(("/t/k3v9qa", "a=1&c=3"))),
            ("/t/k3v9qa//&a=1", "", Some(("/t/k3v9qa/", "a=1"))),
            ("/t/&a=1", "", Some(("/t", "a=1"))),
            ("/t/k3v9qa&&&", "", Some(("/t/k3v9qa", "&&"))),
            ("/t/k3v9qa%26a=1", "", None),
            ("/t/k3v9qa&a=1/b", "", None),
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
