//! The settings of a mail server.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::Host;
use utoipa::ToSchema;

use super::address::MailAddress;
use crate::field_error::FieldError;

/// Most bytes of a user name: as many as an address has, and some more.
const USER_MAX: usize = 320;
/// Most bytes of a password. Tokens that servers use as passwords have some hundred.
const PASSWORD_MAX: usize = 2_048;

/// A step of sending a mail, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailStep {
    /// The settings are read: there is a mail server, and its password can be opened.
    Settings,
    /// A connection to the server, with TLS if the security is `tls`.
    Connect,
    /// The encryption by STARTTLS.
    Encrypt,
    /// The user name and the password.
    Login,
    /// The address of the sender.
    Sender,
    /// The address of the recipient.
    Recipient,
    /// The transfer of the mail itself.
    Message,
}

/// How a connection to a mail server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailSecurity {
    /// TLS from the first byte, usually at port 465.
    Tls,
    /// TLS after the command STARTTLS, usually at port 587. A server that does not offer it gets
    /// nothing.
    Starttls,
    /// No encryption, for a server on this machine or in a network that is trusted.
    None,
}

/// The mail server, and the sender of all mails. The password is stored apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MailFields {
    /// Name or IP address of the server.
    #[schema(min_length = 1, max_length = 253)]
    pub host: String,
    /// TCP port of the server.
    #[schema(minimum = 1)]
    pub port: u16,
    /// Protection of the connection.
    pub security: MailSecurity,
    /// User name; null if the server asks for none.
    #[serde(default)]
    #[schema(required = false, max_length = 320)]
    pub user: Option<String>,
    /// Address of the sender.
    pub from: MailAddress,
}

impl MailFields {
    /// Checks the settings of a server that gets a password if `has_password` is true.
    ///
    /// # Errors
    ///
    /// If a member is not usable, or if the password would be sent in clear over a network.
    pub fn check(mut self, has_password: bool) -> Result<Self, FieldError> {
        self.host = host(&self.host)?;
        if self.port == 0 {
            let why =
                "A mail server has a port from 1 on, usually 465 with TLS and 587 with STARTTLS.";
            return Err(FieldError::of("port", why));
        }
        let user = self.user.as_deref();
        if user.is_some_and(|user| user.is_empty() || user.len() > USER_MAX || !is_line(user)) {
            let why = "A user name has 1 to 320 bytes in one line. Leave it out if the server asks for none.";
            return Err(FieldError::of("user", why));
        }
        match (user, has_password) {
            (Some(_), false) => {
                let why = "Give the password of this user. It is not shown again.";
                Err(FieldError::of("password", why))
            }
            (None, true) => {
                let why = "Give the name of the user whose password this is.";
                Err(FieldError::of("user", why))
            }
            (Some(_), true) if self.security == MailSecurity::None && !self.is_local() => {
                let why = "Without encryption, anybody on the way could read the password. Choose tls or starttls.";
                Err(FieldError::of("security", why))
            }
            _ => Ok(self),
        }
    }

    /// Whether the server is on this machine, so that nobody is on the way to it.
    fn is_local(&self) -> bool {
        self.host == "localhost"
            || self
                .host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// Whether both settings log in as the same user at the same server. A stored password is kept
    /// only for these, so that nobody can have it sent to another server.
    pub fn logs_in_like(&self, other: &Self) -> bool {
        (&self.host, self.port, self.security, &self.user)
            == (&other.host, other.port, other.security, &other.user)
    }
}

/// Checks a password before it is stored.
///
/// # Errors
///
/// If it is too long, or has characters that no server accepts.
pub fn check_password(password: &str) -> Result<(), FieldError> {
    if password.is_empty() || password.len() > PASSWORD_MAX || !is_line(password) {
        let why = "A password has 1 to 2,048 bytes in one line.";
        return Err(FieldError::of("password", why));
    }
    Ok(())
}

fn is_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// A host as it is stored: a domain in lower case and ASCII, or an address without brackets.
fn host(text: &str) -> Result<String, FieldError> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    match Host::parse(text) {
        Ok(Host::Domain(name)) if name.len() <= 253 && !name.ends_with('.') => Ok(name),
        Ok(Host::Ipv4(address)) => Ok(address.to_string()),
        Ok(Host::Ipv6(address)) => Ok(address.to_string()),
        _ => {
            let why = "The host is the name or the IP address of a mail server, such as mail.example.com, without a port.";
            Err(FieldError::of("host", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(host: &str, security: MailSecurity, user: Option<&str>) -> MailFields {
        MailFields {
            host: host.to_owned(),
            port: 587,
            security,
            user: user.map(str::to_owned),
            from: MailAddress::parse("tapdesk@example.com").unwrap(),
        }
    }

    #[test]
    fn a_host_is_a_name_or_an_address_without_a_port() {
        for (text, stored) in [
            ("Mail.Example.COM", "mail.example.com"),
            ("localhost", "localhost"),
            ("192.0.2.7", "192.0.2.7"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("müller.example", "xn--mller-kva.example"),
        ] {
            let checked = fields(text, MailSecurity::Tls, None).check(false);
            assert_eq!(checked.unwrap().host, stored);
        }
        for text in [
            "",
            "mail.example.com:587",
            "https://mail.example.com",
            "mail example.com",
            "mail.example.com\r\nQUIT",
            "user@mail.example.com",
        ] {
            let checked = fields(text, MailSecurity::Tls, None).check(false);
            assert_eq!(
                checked.unwrap_err().field.as_deref(),
                Some("host"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_password_goes_in_clear_only_within_this_machine() {
        for (host, security, is_sent) in [
            ("mail.example.com", MailSecurity::Tls, true),
            ("mail.example.com", MailSecurity::Starttls, true),
            ("mail.example.com", MailSecurity::None, false),
            ("192.168.1.5", MailSecurity::None, false),
            ("localhost", MailSecurity::None, true),
            ("127.0.0.1", MailSecurity::None, true),
            ("::1", MailSecurity::None, true),
        ] {
            let checked = fields(host, security, Some("anna")).check(true);
            assert_eq!(checked.is_ok(), is_sent, "{host} {security:?}");
        }
        let no_user = fields("mail.example.com", MailSecurity::None, None);
        assert!(no_user.check(false).is_ok());
    }

    #[test]
    fn a_user_and_a_password_come_together() {
        let field = |user, has_password| {
            let checked = fields("mail.example.com", MailSecurity::Tls, user).check(has_password);
            checked.err().and_then(|error| error.field)
        };
        assert_eq!(field(Some("anna"), false).as_deref(), Some("password"));
        assert_eq!(field(None, true).as_deref(), Some("user"));
        assert_eq!(field(Some("an\nna"), true).as_deref(), Some("user"));
        assert_eq!(field(Some("anna"), true), None);
        assert!(check_password("a\0b").is_err() && check_password("a b").is_ok());
    }
}
