//! Parses the text of a template.

use std::iter::Peekable;
use std::str::CharIndices;

use super::request::ipv6_host;
use super::{Field, TemplateError, ipv4};

/// The longest template. It is twice as long as any text that fits into a chip, and short enough to
/// be checked quickly.
const LENGTH_MAX: usize = 512;
/// The schemes of tags' URLs: `lnurlw` is that of bolt cards.
const SCHEMES: [&str; 3] = ["https", "http", "lnurlw"];

/// A character of the URL, or a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Char(char),
    Field(Field),
}

/// A token and the character of the template at which it begins, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub token: Token,
    pub at: usize,
}

/// Text and placeholders of a host, path segment or parameter value, percent-decoded to be compared
/// with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Field(Field),
}

pub(super) type Pattern = Vec<Piece>;

/// A parameter of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Its name; `None` if its placeholders have no name and no `=`.
    pub name: Option<String>,
    pub value: Pattern,
}

/// A template's URL, split into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The whole URL, scheme included, as the chip holds it.
    pub units: Vec<Unit>,
    /// Lower case, without the port; an IP address in its usual spelling.
    pub host: Pattern,
    /// The segments between the slashes; a single empty one without a path.
    pub path: Vec<Pattern>,
    pub query: Vec<Parameter>,
}

impl Parts {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        let length = text.chars().count();
        if length > LENGTH_MAX {
            let max = LENGTH_MAX;
            return Err(TemplateError::TooLong { length, max });
        }
        let units = units(text)?;
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let scheme = scheme.filter(|scheme| SCHEMES.contains(scheme));
        let scheme = scheme.ok_or(TemplateError::Scheme)?;
        let rest = &units[scheme.len() + "://".len()..];
        once_each(&units)?;
        legal(rest)?;

        let is = |unit: &Unit, c: char| unit.token == Token::Char(c);
        let end = |units: &[Unit], stop: &[char]| {
            let stops = |unit: &Unit| stop.iter().any(|&c| is(unit, c));
            units.iter().position(stops).unwrap_or(units.len())
        };
        let (host, rest) = rest.split_at(end(rest, &['/', '?']));
        let behind = rest.first().map_or(length + 1, |unit| unit.at);
        let host = self::host(host, behind)?;
        let (path, query) = rest.split_at(end(rest, &['?']));
        let path = path.split_first().map_or(&[][..], |(_, path)| path);
        let path = path.split(|unit| is(unit, '/')).map(segment);
        let path = path.collect::<Result<_, _>>()?;
        let query = match query.split_first() {
            Some((_, query)) if !query.is_empty() => parameters(query)?,
            _ => Vec::new(),
        };
        Ok(Self {
            units,
            host,
            path,
            query,
        })
    }

    /// The position of a placeholder, as an index into the units.
    pub(super) fn index(&self, field: Field) -> Option<usize> {
        let is = |unit: &Unit| unit.token == Token::Field(field);
        self.units.iter().position(is)
    }

    /// The position of a placeholder, as a character of the text.
    pub(super) fn place(&self, field: Field) -> Option<usize> {
        self.index(field).map(|index| self.units[index].at)
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.index(field).is_some()
    }
}

/// Whether this is the scheme of a tag's URL, in any case: `https`, `http` or `lnurlw`.
pub fn is_scheme(text: &str) -> bool {
    SCHEMES.iter().any(|known| text.eq_ignore_ascii_case(known))
}

/// Writes the scheme in small letters. Schemes are the same in any case (RFC 3986, section 3.1).
pub(super) fn lower_scheme(text: &mut str) {
    if let Some(end) = text.find("://") {
        text[..end].make_ascii_lowercase();
    }
}

/// Recognises placeholders, and turns doubled braces into single ones.
fn units(text: &str) -> Result<Vec<Unit>, TemplateError> {
    let mut units = Vec::new();
    let mut characters = text.char_indices().peekable();
    let mut at = 0;
    while let Some((start, c)) = characters.next() {
        at += 1;
        let unit = |token| Unit { token, at };
        match c {
            '{' | '}' if doubled(&mut characters, c) => {
                units.push(unit(Token::Char(c)));
                at += 1;
            }
            '{' => {
                let rest = &text[start + 1..];
                let name = rest.split_once('}').ok_or(TemplateError::Brace { at })?.0;
                let field = Field::ALL.into_iter().find(|field| field.name() == name);
                let field = field.ok_or_else(|| TemplateError::UnknownPlaceholder {
                    at,
                    name: name.chars().take(20).collect(),
                })?;
                units.push(unit(Token::Field(field)));
                // The names are ASCII, and the closing brace is one character more.
                at += name.len() + 1;
                characters.nth(name.len());
            }
            '}' => return Err(TemplateError::Brace { at }),
            c => units.push(unit(Token::Char(c))),
        }
    }
    Ok(units)
}

fn doubled(characters: &mut Peekable<CharIndices<'_>>, brace: char) -> bool {
    characters.next_if(|&(_, next)| next == brace).is_some()
}

fn once_each(units: &[Unit]) -> Result<(), TemplateError> {
    for (index, &Unit { token, at }) in units.iter().enumerate() {
        if let Token::Field(field) = token
            && field != Field::Any
            && units[..index].iter().any(|unit| unit.token == token)
        {
            return Err(TemplateError::Twice { at, field });
        }
    }
    Ok(())
}

/// Refuses characters that a browser would not send unchanged.
fn legal(units: &[Unit]) -> Result<(), TemplateError> {
    for (index, &Unit { token, at }) in units.iter().enumerate() {
        match token {
            Token::Char('#') => return Err(TemplateError::Fragment { at }),
            Token::Char('%') => {
                let digits = units.get(index + 1..index + 3).unwrap_or(&[]);
                let is_digit =
                    |unit: &Unit| matches!(unit.token, Token::Char(c) if c.is_ascii_hexdigit());
                if digits.len() < 2 || !digits.iter().all(is_digit) {
                    return Err(TemplateError::PercentEncoding { at });
                }
            }
            Token::Char(character)
                if !character.is_ascii_graphic() || r#""<>\^`|"#.contains(character) =>
            {
                return Err(TemplateError::Character { at, character });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads the host without its port. `behind` is the position after it.
fn host(units: &[Unit], behind: usize) -> Result<Pattern, TemplateError> {
    let is = |unit: &Unit, c: char| unit.token == Token::Char(c);
    // An IPv6 address has colons, too, and brackets around them.
    let address = units.iter().position(|unit| is(unit, ']')).unwrap_or(0);
    let port = units[address..].iter().position(|unit| is(unit, ':'));
    let (name, port) = units.split_at(port.map_or(units.len(), |port| address + port));
    let is_digit = |unit: &Unit| matches!(unit.token, Token::Char(c) if c.is_ascii_digit());
    if let Some(unit) = port.iter().skip(1).find(|unit| !is_digit(unit)) {
        return Err(TemplateError::Host { at: unit.at });
    }
    if name.is_empty() || port.len() == 1 {
        return Err(TemplateError::Host { at: behind });
    }
    if let [colon, digits @ ..] = port
        && text(digits, str::to_owned).parse::<u16>().is_err()
    {
        return Err(TemplateError::Host { at: colon.at });
    }
    if is(&name[0], '[') {
        return ipv6(name);
    }
    for label in name.split(|unit| is(unit, '.')) {
        let Some(first) = label.first() else {
            let at = name[0].at;
            return Err(TemplateError::Host { at });
        };
        for &Unit { token, at } in label {
            match token {
                Token::Field(Field::Slug) if label.len() == 1 => {}
                Token::Field(field) => return Err(TemplateError::PlaceholderInHost { at, field }),
                // Browsers open names with `_`, which are no host names by RFC 952.
                Token::Char(c) if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => {}
                Token::Char(character) => return Err(TemplateError::Character { at, character }),
            }
        }
        if is(first, '-') {
            return Err(TemplateError::Host { at: first.at });
        }
    }
    let lower = name.iter().map(|unit| match unit.token {
        Token::Char(c) => Unit {
            token: Token::Char(c.to_ascii_lowercase()),
            ..*unit
        },
        Token::Field(_) => *unit,
    });
    let host = pattern(&lower.collect::<Vec<_>>(), str::to_owned);
    match host.as_slice() {
        [Piece::Text(literal)] if ipv4::is_meant(literal) => {
            let address = ipv4::address(literal);
            let address = address.ok_or(TemplateError::Host { at: name[0].at })?;
            Ok(vec![Piece::Text(address.to_string())])
        }
        // No browser opens a name that ends in a number.
        [_, .., Piece::Text(end)] if ipv4::is_meant(end) => {
            Err(TemplateError::Host { at: name[0].at })
        }
        _ => Ok(host),
    }
}

/// Reads a host that is an IPv6 address in brackets.
fn ipv6(units: &[Unit]) -> Result<Pattern, TemplateError> {
    let field = units.iter().find_map(|unit| match unit.token {
        Token::Field(field) => Some((field, unit.at)),
        Token::Char(_) => None,
    });
    if let Some((field, at)) = field {
        return Err(TemplateError::PlaceholderInHost { at, field });
    }
    let host = ipv6_host(&text(units, str::to_owned));
    let host = host.ok_or(TemplateError::Host { at: units[0].at })?;
    Ok(vec![Piece::Text(host)])
}

fn segment(units: &[Unit]) -> Result<Pattern, TemplateError> {
    one_variable(units)?;
    let segment = pattern(units, decode);
    match segment.as_slice() {
        [Piece::Text(text)] if text == "." || text == ".." => {
            Err(TemplateError::DotSegment { at: units[0].at })
        }
        _ => Ok(segment),
    }
}

fn parameters(units: &[Unit]) -> Result<Vec<Parameter>, TemplateError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for units in units.split(|unit| unit.token == Token::Char('&')) {
        let Some(first) = units.first() else { continue };
        one_variable(units)?;
        let equals = units.iter().position(|unit| unit.token == Token::Char('='));
        let (name, value) = units.split_at(equals.unwrap_or(units.len()));
        let placeholder = name.iter().find_map(|unit| match unit.token {
            Token::Field(field) => Some((field, unit.at)),
            Token::Char(_) => None,
        });
        let parameter = match (placeholder, value) {
            (None, value) => Parameter {
                name: Some(text(name, decode_form)),
                value: pattern(value.get(1..).unwrap_or(&[]), decode_form),
            },
            (Some(_), []) => Parameter {
                name: None,
                value: pattern(name, decode_form),
            },
            (Some((field, at)), _) => return Err(TemplateError::PlaceholderInName { at, field }),
        };
        if parameters.iter().any(|other| other.name == parameter.name) {
            let name = parameter.name.unwrap_or_default();
            return Err(TemplateError::ParameterTwice { at: first.at, name });
        }
        parameters.push(parameter);
    }
    Ok(parameters)
}

/// Refuses two parts of variable length, because one text could then be read in two ways.
fn one_variable(units: &[Unit]) -> Result<(), TemplateError> {
    let variable = |unit: &Unit| match unit.token {
        Token::Field(field @ (Field::Slug | Field::Any)) => Some((field, unit.at)),
        _ => None,
    };
    match units.iter().filter_map(variable).nth(1) {
        Some((field, at)) => Err(TemplateError::Ambiguous { at, field }),
        None => Ok(()),
    }
}

fn pattern(units: &[Unit], decode: fn(&str) -> String) -> Pattern {
    let mut pattern = Vec::new();
    let fields = |unit: &Unit| matches!(unit.token, Token::Field(_));
    for run in units.chunk_by(|a, b| !fields(a) && !fields(b)) {
        match run[0].token {
            Token::Field(field) => pattern.push(Piece::Field(field)),
            Token::Char(_) => pattern.push(Piece::Text(text(run, decode))),
        }
    }
    pattern
}

fn text(units: &[Unit], decode: fn(&str) -> String) -> String {
    let characters = units.iter().filter_map(|unit| match unit.token {
        Token::Char(c) => Some(c),
        Token::Field(_) => None,
    });
    decode(&characters.collect::<String>())
}

/// A path's text as a server reads it.
pub(super) fn decode(text: &str) -> String {
    let decoded = percent_encoding::percent_decode_str(text);
    decoded.decode_utf8_lossy().into_owned()
}

/// A query's text as a server reads it: `+` is a space.
fn decode_form(text: &str) -> String {
    decode(&text.replace('+', " "))
}
