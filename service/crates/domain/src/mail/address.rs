//! A mail address. It comes into commands and headers, where a line break would begin another one.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Most bytes of an address (RFC 5321, 4.5.3.1.3, without the angle brackets).
const ADDRESS_MAX: usize = 254;
/// Most bytes before the `@` (RFC 5321, 4.5.3.1.1).
const LOCAL_MAX: usize = 64;
/// Most bytes between two dots of a domain (RFC 1035, 2.3.4).
const LABEL_MAX: usize = 63;

/// A mail address such as `anna@example.com`, in ASCII and without a name around it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 3, max_length = 254, example = "anna@example.com")]
pub struct MailAddress(String);

/// A text is not a mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "This is not a mail address. Write it as anna@example.com: one address, without a name around it and \
     without line breaks. A domain with other letters is written in its xn-- form."
)]
pub struct InvalidMailAddress;

impl MailAddress {
    /// Parses an address.
    ///
    /// # Errors
    ///
    /// If the text is not one address in ASCII. Quoted names before the `@` and addresses of
    /// machines behind it are refused, because hardly a server accepts them.
    pub fn parse(text: &str) -> Result<Self, InvalidMailAddress> {
        let (local, domain) = text.split_once('@').ok_or(InvalidMailAddress)?;
        let is_valid = text.len() <= ADDRESS_MAX && is_local(local) && is_domain(domain);
        if is_valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidMailAddress)
        }
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text behind the `@`.
    pub fn domain(&self) -> &str {
        self.0.split_once('@').map_or("", |(_, domain)| domain)
    }
}

/// Atoms of RFC 5322, 3.2.3, with single dots between them.
fn is_local(text: &str) -> bool {
    let is_atom = |atom: &str| {
        let is_of_atom =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
        !atom.is_empty() && atom.bytes().all(is_of_atom)
    };
    text.len() <= LOCAL_MAX && text.split('.').all(is_atom)
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_of_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=LABEL_MAX).contains(&label.len())
            && label.bytes().all(is_of_label)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.split('.').all(is_label)
}

impl TryFrom<String> for MailAddress {
    type Error = InvalidMailAddress;

    fn try_from(text: String) -> Result<Self, InvalidMailAddress> {
        Self::parse(&text)
    }
}

impl From<MailAddress> for String {
    fn from(address: MailAddress) -> Self {
        address.0
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_line_of_ascii_with_one_at_sign() {
        for text in [
            "anna@example.com",
            "anna.b+tap@mail.example.co.uk",
            "o'neill@example.com",
            "root@localhost",
            "a@xn--mnchen-3ya.example",
        ] {
            assert_eq!(MailAddress::parse(text).unwrap().as_str(), text);
        }
        let long = format!("{}@example.com", "a".repeat(LOCAL_MAX + 1));
        let longer = format!("a@{}.com", "a".repeat(LABEL_MAX + 1));
        let longest = format!("a@{}com", "abcdefgh.".repeat(30));
        for text in [
            "",
            "@",
            "anna",
            "anna@",
            "@example.com",
            "anna@example..com",
            ".anna@example.com",
            "anna.@example.com",
            "an na@example.com",
            "anna@exa mple.com",
            "anna@example.com\r\nBcc: all@example.com",
            "anna\n@example.com",
            "anna@example.com\0",
            "Anna <anna@example.com>",
            "anna@example.com, ben@example.com",
            "anna@b@example.com",
            "\"anna\"@example.com",
            "anna@[127.0.0.1]",
            "anna@-example.com",
            "anna@münchen.example",
            "ännä@example.com",
            &long,
            &longer,
            &longest,
        ] {
            assert_eq!(MailAddress::parse(text), Err(InvalidMailAddress), "{text}");
        }
    }
}
