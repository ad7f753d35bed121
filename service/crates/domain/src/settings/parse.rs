//! Settings from their texts.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use crate::schema::text_schema;
use crate::settings::host;

/// An address block, as in `10.0.0.0/8`, or a single address.
pub fn parse_network(text: &str) -> Result<IpNet, InvalidNetwork> {
    let text = text.trim();
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| InvalidNetwork)
}

/// The text is not an address block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A network is an address, or an address block such as 10.0.0.0/8.")]
pub struct InvalidNetwork;

/// Refused calls per minute and client before the answer is 429. As text and in JSON a number, or
/// `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// No limit: calls are never refused.
    Off,
    /// At most this many a minute.
    PerMinute(NonZeroU32),
}

impl RateLimit {
    /// The limit as a number; `None` if it is off.
    pub fn per_minute(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::PerMinute(limit) => Some(limit.get()),
        }
    }

    /// The limit of `number` refused calls; `None` switches it off.
    pub fn from_number(number: Option<u32>) -> Self {
        number
            .and_then(NonZeroU32::new)
            .map_or(Self::Off, Self::PerMinute)
    }
}

impl FromStr for RateLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "off" => Ok(Self::Off),
            number => number
                .parse()
                .map(Self::PerMinute)
                .map_err(|_| "a rate limit is a whole number of at least 1, or off"),
        }
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::PerMinute(limit) => limit.fmt(f),
        }
    }
}

impl Serialize for RateLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::PerMinute(limit) => serializer.serialize_u32(limit.get()),
        }
    }
}

impl<'de> Deserialize<'de> for RateLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a rate limit is a whole number of at least 1, or \"off\""
        )]
        enum Form {
            Number(NonZeroU32),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(limit) => Ok(Self::PerMinute(limit)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl utoipa::PartialSchema for RateLimit {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
        OneOfBuilder::new()
            .item(
                ObjectBuilder::new()
                    .schema_type(Type::Integer)
                    .minimum(Some(1))
                    .maximum(Some(u32::MAX)),
            )
            .item(
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .enum_values(Some(["off"])),
            )
            .into()
    }
}

impl utoipa::ToSchema for RateLimit {}

/// The form of a network, for the OpenAPI document.
pub(super) struct Network;
text_schema!(Network, "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$");

/// The form of a host, for the OpenAPI document.
pub(super) struct HostName;
text_schema!(HostName, "^([^\\[\\]/:@?#*\\s]+|\\[?[0-9A-Fa-f:.]+\\]?)$");

/// The base of the tags' URLs, without a slash at its end.
pub fn tag_url(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let url = Url::parse(text).ok()?;
    let plain = url.query().is_none() && url.fragment().is_none();
    let nobody = url.username().is_empty() && url.password().is_none();
    let named = host::of_url(text).is_some();
    (matches!(url.scheme(), "http" | "https") && named && plain && nobody).then(|| text.to_owned())
}

/// A two-letter country code in upper case, or an empty text.
pub(super) fn country(text: &str) -> Option<String> {
    let code = text.trim();
    let two_letters = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    (code.is_empty() || two_letters).then(|| code.to_ascii_uppercase())
}

/// A header's name in lower case.
pub(super) fn header(text: &str) -> Option<String> {
    // A token (RFC 9110, section 5.6.2).
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = text.trim();
    (!name.is_empty() && name.bytes().all(is_token)).then(|| name.to_ascii_lowercase())
}

/// A host's name in lower case, or its address, with IPv6 in brackets; without a port.
pub(super) fn host(text: &str) -> Option<String> {
    host::parse(text.trim()).map(|host| host.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_url_is_an_http_url_of_scheme_host_and_path() {
        for (text, expected) in [
            ("https://tags.example/t/", Some("https://tags.example/t")),
            ("http://127.0.0.1:8787/t", Some("http://127.0.0.1:8787/t")),
            ("https://tags.example/t?a=1", None),
            ("https://tags.example/t#a", None),
            ("https://someone@tags.example/t", None),
            ("ftp://tags.example/t", None),
            ("javascript:alert(1)", None),
            ("tags.example/t", None),
            ("https://*/t", None),
            ("https://*.example/t", None),
            ("", None),
        ] {
            assert_eq!(tag_url(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_host_is_a_name_without_port_or_path() {
        for (text, expected) in [
            ("Admin.Example", Some("admin.example")),
            ("admin.example.", Some("admin.example")),
            ("192.0.2.1", Some("192.0.2.1")),
            ("[2001:DB8::5]", Some("[2001:db8::5]")),
            ("2001:db8::5", Some("[2001:db8::5]")),
            ("admin.example:80", None),
            ("[2001:db8::5]:80", None),
            ("https://admin.example", None),
            ("", None),
        ] {
            assert_eq!(host(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_header_is_a_token_in_lower_case() {
        for (text, expected) in [
            (" CF-IPCountry ", Some("cf-ipcountry")),
            ("x_country", Some("x_country")),
            ("a b", None),
            ("a:b", None),
            ("ländercode", None),
            ("", None),
        ] {
            assert_eq!(header(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_rate_limit_is_a_number_or_off() {
        for text in ["60", "off"] {
            let limit: RateLimit = text.parse().unwrap();
            let json = serde_json::to_string(&limit).unwrap();
            assert_eq!(serde_json::from_str::<RateLimit>(&json).unwrap(), limit);
            assert_eq!(limit.to_string(), text);
        }
        for json in ["0", "-1", "1.5", "\"on\"", "true", "4294967296"] {
            assert!(serde_json::from_str::<RateLimit>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_network_may_be_one_address() {
        assert_eq!(
            parse_network("192.0.2.1"),
            "192.0.2.1/32".parse().map_err(|_| InvalidNetwork)
        );
        assert_eq!(parse_network("10.0.0.0/33"), Err(InvalidNetwork));
    }
}
