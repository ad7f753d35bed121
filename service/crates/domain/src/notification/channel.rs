//! Where a notification goes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::entropy::Entropy;
use crate::field_error::FieldError;
use crate::keyring::{Keyring, KeyringError};
use crate::mail::MailAddress;
use crate::webhook::{check_url, is_loopback, origin};

/// Most recipients of a notification. More people are better served by a mailing list.
const RECIPIENTS_MAX: usize = 20;

/// The channel of a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NotificationChannel)]
pub enum Channel {
    /// Mail to these addresses. Each gets a mail of its own, and does not see the others.
    Mail(Vec<MailAddress>),
    /// URL of an incoming webhook of Slack, Mattermost or Rocket.Chat, which gets `{"text": ".."}`.
    Chat(String),
}

impl Channel {
    /// Checks the recipients. A chat's address follows the rules of webhooks: it is public, unless
    /// `private` is true. Its URL is a secret, so it needs `https` outside of this machine.
    ///
    /// # Errors
    ///
    /// If there are too many recipients or none, or if the URL is not usable.
    pub fn check(self, private: bool) -> Result<Self, FieldError> {
        match self {
            Self::Mail(mut recipients) => {
                // Servers treat both cases as one mailbox, although they need not.
                let mut seen = Vec::with_capacity(recipients.len());
                recipients.retain(|one| {
                    let lower = one.as_str().to_ascii_lowercase();
                    let is_new = !seen.contains(&lower);
                    seen.push(lower);
                    is_new
                });
                if (1..=RECIPIENTS_MAX).contains(&recipients.len()) {
                    return Ok(Self::Mail(recipients));
                }
                let why = "A notification goes to 1 to 20 mail addresses. For more, write to a mailing list.";
                Err(FieldError::of("channel.mail", why))
            }
            Self::Chat(url) => {
                let field = |why: String| FieldError::of("channel.chat", why);
                let url = check_url(&url, "A chat's URL", private).map_err(field)?;
                if url.scheme() != "https" && !is_loopback(&url) {
                    let why = "A chat's URL begins with https://, because whoever knows it can write there.";
                    return Err(field(why.to_owned()));
                }
                Ok(Self::Chat(url.into()))
            }
        }
    }

    /// The channel as it is stored: of a chat's URL only the origin, and the whole URL wrapped.
    pub fn sealed(
        self,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<(Self, Option<Vec<u8>>), KeyringError> {
        match self {
            Self::Mail(_) => Ok((self, None)),
            Self::Chat(url) => {
                let wrapped = keyring.wrap_secret(url.as_bytes(), entropy)?;
                Ok((Self::Chat(origin(&url).into_owned()), Some(wrapped)))
            }
        }
    }

    /// The whole channel again, from its stored form.
    pub fn opened(self, chat: Option<&[u8]>, keyring: &Keyring) -> Result<Self, KeyringError> {
        match (self, chat) {
            (Self::Chat(_), Some(wrapped)) => {
                let url = keyring.unwrap_secret(wrapped)?;
                Ok(Self::Chat(String::from_utf8_lossy(&url).into_owned()))
            }
            (channel, _) => Ok(channel),
        }
    }

    /// The recipients as deliveries name them. A chat is one without a name.
    pub fn recipients(&self) -> Vec<&str> {
        match self {
            Self::Mail(recipients) => recipients.iter().map(MailAddress::as_str).collect(),
            Self::Chat(_) => vec![""],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(url: &str, private: bool) -> Result<Channel, FieldError> {
        Channel::Chat(url.to_owned()).check(private)
    }

    #[test]
    fn a_chat_is_reached_as_webhooks_are_and_encrypted_outside_of_this_machine() {
        assert!(chat("https://hooks.example/services/T0/B0/x", false).is_ok());
        for (url, private) in [
            ("http://hooks.example/x", false),
            ("http://hooks.example/x", true),
            ("http://192.168.1.5/x", true),
            ("https://127.0.0.1/x", false),
            ("http://127.0.0.1/x", false),
            ("https://user:word@hooks.example/x", false),
            ("https://hooks.example/x#y", false),
            ("hooks.example", false),
        ] {
            let error = chat(url, private).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("channel.chat"), "{url}");
        }
        for url in [
            "http://127.0.0.1:8065/x",
            "http://[::1]/x",
            "http://localhost/x",
        ] {
            assert!(chat(url, true).is_ok(), "{url}");
        }
    }

    #[test]
    fn each_recipient_is_named_once_and_there_are_twenty_at_most() {
        let address = |name: usize| MailAddress::parse(&format!("a{name}@example.com")).unwrap();
        let other_case = MailAddress::parse("A1@Example.com").unwrap();
        let twice = Channel::Mail(vec![address(1), address(2), address(1), other_case]);
        let once = Channel::Mail(vec![address(1), address(2)]);
        assert_eq!(twice.check(false), Ok(once));
        for (many, is_allowed) in [(0, false), (1, true), (20, true), (21, false)] {
            let channel = Channel::Mail((0..many).map(address).collect());
            assert_eq!(channel.check(false).is_ok(), is_allowed, "{many}");
        }
    }
}
