//! The configuration of an endpoint.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};
use utoipa::ToSchema;

use super::address::is_public;
use super::event::EventKind;
use crate::clock::Timestamp;
use crate::field_error::FieldError;
use crate::id::{ExperienceId, GroupId, WebhookId};
use crate::revision::{Revised, Revision};
use crate::scope::Reach;

/// Maximum number of endpoints of an installation. All that are on are kept in memory.
pub const ENDPOINTS_MAX: u64 = 10_000;
/// Maximum length of an endpoint's URL, in bytes.
const URL_MAX: usize = 2_048;
/// Maximum number of attributes in a filter.
const ATTRIBUTES_MAX: usize = 10;

/// The members of a webhook that its owner can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WebhookFields)]
pub struct WebhookFields {
    /// URL that events are sent to: `https`, or `http`.
    #[schema(pattern = "^https?://", max_length = 2048)]
    pub url: String,
    /// Types of events that the endpoint gets.
    #[schema(min_items = 1)]
    pub events: Vec<EventKind>,
    /// Filter of these events; an absent member selects all.
    #[serde(default, deserialize_with = "crate::strict_json::one")]
    #[schema(required = false)]
    pub filter: EventFilter,
    /// Whether events are sent.
    #[serde(default = "on")]
    #[schema(required = false, default = true)]
    pub enabled: bool,
    /// Additional data in events.
    #[serde(default)]
    #[schema(required = false)]
    pub include: Vec<Include>,
}

const fn on() -> bool {
    true
}

/// The filter of an endpoint's events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// Only events of taps that led to this experience.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experience_id: Option<ExperienceId>,
    /// Only events of tags in this group, or in a group below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<GroupId>,
    /// Only events of tags with these attributes, of their own or of a group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub attribute: BTreeMap<String, String>,
    /// Only real events (`live`), only simulated events, or all.
    #[serde(default)]
    #[schema(required = false)]
    pub world: EventWorld,
}

/// The world that events belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventWorld {
    /// Only real events.
    #[default]
    Live,
    /// Only simulated events.
    Simulated,
    /// Real and simulated events.
    All,
}

impl EventWorld {
    /// Whether an event of the given kind, simulated or real, is included.
    pub const fn has(self, simulated: bool) -> bool {
        match self {
            Self::Live => !simulated,
            Self::Simulated => simulated,
            Self::All => true,
        }
    }
}

/// Data that an event contains only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Include {
    /// The UID of the inlay.
    Uid,
    /// The tag's variables, the values of changes, and the fields of submissions.
    Variables,
    /// The attributes of the event's tag.
    Attributes,
    /// The decrypted file data of the code.
    FileData,
}

impl WebhookFields {
    /// Whether the endpoint gets data of tags: other events than alerts, or alerts with UIDs and
    /// values. A token without read access may not choose these.
    pub fn tells_of_tags(&self) -> bool {
        !self.include.is_empty() || self.events.iter().any(|kind| !kind.is_alert())
    }

    /// Checks the configuration of an endpoint that gets the events of `reach`. Addresses that are
    /// not public are refused, unless `private` is true. Names are checked when they are resolved.
    pub fn check(mut self, private: bool, reach: &Reach) -> Result<Self, FieldError> {
        let parsed = check_url(&self.url, "A webhook's URL", private)
            .map_err(|why| FieldError::of("url", why))?;
        self.url = parsed.into();
        self.events.dedup_by_key(|kind| *kind);
        self.events.sort_unstable();
        self.events.dedup();
        if self.events.is_empty() {
            return Err(FieldError::of(
                "events",
                "Choose at least one type of event.",
            ));
        }
        if self.events.contains(&EventKind::Test) {
            return Err(FieldError::of(
                "events",
                "A test event is sent by its own operation, to any endpoint.",
            ));
        }
        if self.filter.attribute.len() > ATTRIBUTES_MAX {
            return Err(FieldError::of(
                "filter.attribute",
                "A filter has at most 10 attributes.",
            ));
        }
        if reach.limit().is_some() && self.events.iter().any(|kind| kind.is_alert()) {
            return Err(FieldError::of(
                "events",
                "An alert is about the whole service: a webhook that is limited to experiences gets none.",
            ));
        }
        self.include.dedup();
        Ok(self)
    }

    /// Whether the endpoint gets events of this type and world.
    pub fn wants(&self, kind: EventKind, simulated: bool) -> bool {
        self.events.binary_search(&kind).is_ok()
            && (kind.is_alert() || self.filter.world.has(simulated))
    }

    /// Whether the events contain this data.
    pub fn includes(&self, what: Include) -> bool {
        self.include.contains(&what)
    }
}

/// Checks the URL of an endpoint. Addresses that are not public are refused, unless `private` is true.
/// Names are checked when they are resolved. An error is a sentence about `whose`, such as "A
/// webhook's URL".
pub fn check_url(text: &str, whose: &str, private: bool) -> Result<Url, String> {
    if text.len() > URL_MAX {
        return Err(format!("{whose} has at most 2,048 bytes."));
    }
    let Ok(url) = Url::parse(text) else {
        return Err(format!("{whose} is an https or http URL with a host."));
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{whose} begins with https:// or http://."));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!(
            "{whose} has no user name and no password. Leave them out."
        ));
    }
    if url.fragment().is_some() {
        return Err(format!("{whose} has no fragment (#)."));
    }
    if let Some(address) = literal_address(&url)
        && !private
        && !is_public(address)
    {
        return Err(
            "This address is not on the public internet. To allow it, the operator sets TAPDESK_PRIVATE_WEBHOOKS."
                .to_owned(),
        );
    }
    Ok(url)
}

/// Whether the URL names this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The address in the URL, if its host is an address. Such a host is never resolved. Decimal, octal
/// and hexadecimal numbers are already parsed as addresses, as in browsers.
pub fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// The reason why Tapdesk switched off an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookDisabled)]
pub enum Disabled {
    /// All attempts of five days failed.
    Failing,
    /// The endpoint answered 410: it is gone permanently.
    Gone,
    /// The database was restored or moved. The original may still send events.
    Restored,
}

impl Disabled {
    /// The name of the reason, as in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Restored => "restored",
        }
    }

    /// The reason with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Failing, Self::Gone, Self::Restored]
            .into_iter()
            .find(|why| why.as_str() == name)
    }
}

/// A webhook: an endpoint for events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct Webhook {
    /// Identifier of the webhook.
    pub id: WebhookId,
    /// The members that the owner can change.
    #[serde(flatten)]
    pub fields: WebhookFields,
    /// The only experiences whose events it gets: those of the token that created it. Null for all.
    pub experience_ids: Option<BTreeSet<ExperienceId>>,
    /// Why Tapdesk switched it off; null if its owner did, or if it is on.
    pub disabled: Option<Disabled>,
    /// Number of deliveries that wait for their next attempt.
    pub waiting: u64,
    /// Time of the first failure since the last success; null if the last attempt succeeded.
    pub failing_since: Option<Timestamp>,
    /// When the previous secret stops signing; null without one.
    pub previous_secret_until: Option<Timestamp>,
    /// When the webhook was created.
    pub created_at: Timestamp,
}

impl Webhook {
    /// The experiences whose events the webhook gets.
    pub fn reach(&self) -> Reach {
        Reach::of(self.experience_ids.as_ref())
    }
}

impl Revised for Webhook {
    fn revision(&self) -> Revision {
        Revision::of(&self.fields)
    }
}

impl EventFilter {
    /// Whether a tag that is in these groups, one above the other, is in the filter's group.
    pub fn has_group(&self, of_tag: Option<&[GroupId]>) -> bool {
        let group = self.group_id.as_ref();
        group.is_none_or(|group| of_tag.is_some_and(|of_tag| of_tag.contains(group)))
    }

    /// Whether a tag has the attributes of the filter.
    pub fn has_attributes(&self, of_tag: Option<&BTreeMap<String, String>>) -> bool {
        self.attribute
            .iter()
            .all(|(key, value)| of_tag.is_some_and(|of_tag| of_tag.get(key) == Some(value)))
    }
}

/// The part of a URL for the log: without path and query, which may contain a secret.
pub fn origin(url: &str) -> Cow<'_, str> {
    Url::parse(url).map_or(Cow::Borrowed("?"), |url| {
        Cow::Owned(url.origin().ascii_serialization())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, private: bool) -> Result<String, String> {
        let fields = WebhookFields {
            url: url.to_owned(),
            events: vec![EventKind::TapVerified],
            filter: EventFilter::default(),
            enabled: true,
            include: Vec::new(),
        };
        let checked = fields.check(private, &Reach::EVERYTHING);
        checked
            .map(|fields| fields.url)
            .map_err(|error| error.message)
    }

    #[test]
    fn a_url_that_leads_into_the_network_by_its_digits_is_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://0/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[fd00:ec2::254]/",
            "http://169.254.169.254/latest/meta-data/",
            "http://１２７.０.０.１/",
            "https://10.0.0.1:8443/hook",
            "http://[64:ff9b::10.0.0.1]/",
            "http://100.100.100.200/",
        ] {
            assert!(check(url, false).is_err(), "{url}");
            assert!(check(url, true).is_ok(), "{url}");
        }
        for url in [
            "",
            "hook",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://",
            "https://user@example.com/",
            "https://user:word@example.com/",
            "https://:word@example.com/",
            "https://example.com/#x",
            "gopher://example.com/",
            "javascript:alert(1)",
        ] {
            assert!(check(url, true).is_err(), "{url}");
        }
        let long = format!("https://example.com/{}", "a".repeat(URL_MAX));
        assert!(check(&long, true).is_err());
        assert_eq!(
            check("HTTPS://Example.com", false).unwrap(),
            "https://example.com/"
        );
        assert!(
            check("https://localhost/", false).is_ok(),
            "it is looked at when it is resolved"
        );
    }
}
