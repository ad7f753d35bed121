//! Webhook events and their bodies.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::endpoint::{Include, WebhookFields};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, TagId};
use crate::interaction::{Interaction, InteractionView, TagName};
use inlay::Uid;
use inlay::assessment::Tamper;

/// Types of webhook events.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
pub enum EventKind {
    /// A tap whose code verified.
    #[serde(rename = "tap.verified")]
    TapVerified,
    /// A tap whose code did not verify.
    #[serde(rename = "tap.not_verified")]
    TapNotVerified,
    /// A tap that was not checked, because it had no code or its tag checks none.
    #[serde(rename = "tap.not_checked")]
    TapNotChecked,
    /// A tag changed, by a visitor with a rolling key or by its owner.
    #[serde(rename = "tag.updated")]
    TagUpdated,
    /// A tap reported that the tamper loop is or was open, and the tag's previous tap did not.
    #[serde(rename = "tag.tampered")]
    TagTampered,
    /// An inlay was encoded, and its first tap was verified.
    #[serde(rename = "inlay.encoded")]
    InlayEncoded,
    /// A visitor sent a form.
    #[serde(rename = "submission.created")]
    SubmissionCreated,
    /// A webhook was switched off.
    #[serde(rename = "alert.webhook_disabled")]
    AlertWebhookDisabled,
    /// No backup contains the encoding root.
    #[serde(rename = "alert.root_not_backed_up")]
    AlertRootNotBackedUp,
    /// A scheduled backup failed.
    #[serde(rename = "alert.backup_failed")]
    AlertBackupFailed,
    /// The database did not accept writes.
    #[serde(rename = "alert.writer_failed")]
    AlertWriterFailed,
    /// A certificate of the service's own domain cannot be obtained or renewed.
    #[serde(rename = "alert.certificate_failed")]
    AlertCertificateFailed,
    /// The free disk space is low.
    #[serde(rename = "alert.disk_low")]
    AlertDiskLow,
    /// Too many invalid codes arrived for an inlay.
    #[serde(rename = "alert.inlay_guessed")]
    AlertInlayGuessed,
    /// A one-time URL is opened repeatedly.
    #[serde(rename = "alert.copied_url")]
    AlertCopiedUrl,
    /// Taps created as many tags with a URL template as its limit of a day allows.
    #[serde(rename = "alert.unlisted_limit")]
    AlertUnlistedLimit,
    /// An event that only tests an endpoint.
    #[serde(rename = "webhook.test")]
    Test,
}

impl EventKind {
    /// All types with their names.
    pub const ALL: [(Self, &'static str); 17] = [
        (Self::TapVerified, "tap.verified"),
        (Self::TapNotVerified, "tap.not_verified"),
        (Self::TapNotChecked, "tap.not_checked"),
        (Self::TagUpdated, "tag.updated"),
        (Self::TagTampered, "tag.tampered"),
        (Self::InlayEncoded, "inlay.encoded"),
        (Self::SubmissionCreated, "submission.created"),
        (Self::AlertWebhookDisabled, "alert.webhook_disabled"),
        (Self::AlertRootNotBackedUp, "alert.root_not_backed_up"),
        (Self::AlertBackupFailed, "alert.backup_failed"),
        (Self::AlertWriterFailed, "alert.writer_failed"),
        (Self::AlertCertificateFailed, "alert.certificate_failed"),
        (Self::AlertDiskLow, "alert.disk_low"),
        (Self::AlertInlayGuessed, "alert.inlay_guessed"),
        (Self::AlertCopiedUrl, "alert.copied_url"),
        (Self::AlertUnlistedLimit, "alert.unlisted_limit"),
        (Self::Test, "webhook.test"),
    ];

    /// The name of the type, as in `type` of a body.
    pub fn as_str(self) -> &'static str {
        let named = Self::ALL.iter().find(|(kind, _)| *kind == self);
        named.map_or("", |(_, name)| name)
    }

    /// The type with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(_, known)| *known == name);
        named.map(|(kind, _)| *kind)
    }

    /// Whether the event is about the service instead of a tag. Filters do not apply to such
    /// events.
    pub const fn is_alert(self) -> bool {
        matches!(
            self,
            Self::AlertWebhookDisabled
                | Self::AlertRootNotBackedUp
                | Self::AlertBackupFailed
                | Self::AlertWriterFailed
                | Self::AlertCertificateFailed
                | Self::AlertDiskLow
                | Self::AlertInlayGuessed
                | Self::AlertCopiedUrl
                | Self::AlertUnlistedLimit
                | Self::Test
        )
    }

    /// Whether the event is about a tap, which may have no tag.
    pub const fn is_tap(self) -> bool {
        matches!(
            self,
            Self::TapVerified | Self::TapNotVerified | Self::TapNotChecked | Self::TagTampered
        )
    }

    const fn of_tap(tag_verified: Option<bool>) -> Self {
        match tag_verified {
            Some(true) => Self::TapVerified,
            Some(false) => Self::TapNotVerified,
            None => Self::TapNotChecked,
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An event that is ready for delivery.
#[derive(Clone, Debug)]
pub struct Happening {
    /// Type of the event.
    pub kind: EventKind,
    /// Its `webhook-id`, the same for every endpoint and every attempt.
    pub key: String,
    /// When the event happened.
    pub at: Timestamp,
    /// The tag of the event; `None` without a tag.
    pub tag_id: Option<TagId>,
    /// The experience that the tap led to.
    pub experience_id: Option<ExperienceId>,
    /// Whether the event belongs to the simulated world.
    pub simulated: bool,
    /// The data in the form of the admin API, with everything that an endpoint can include.
    data: Map<String, Value>,
}

/// The data of a tap that its events need.
#[derive(Clone, Debug)]
pub struct TapHappening {
    /// Position in the order of commits.
    pub place: CommitPosition,
    /// The tap, as the history records it.
    pub interaction: Interaction,
    /// The tag; `None` if the inlay that made the code was not on a tag.
    pub tag: Option<TagName>,
    /// The UID of the inlay; `None` without an authentic code.
    pub uid: Option<Uid>,
    /// The state of the tamper loop in the tag's previous tap.
    pub tamper_before: Option<Tamper>,
}

/// A position in the order of commits. On PostgreSQL, several rows of one transaction share `seq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitPosition {
    /// Sequence number of the transaction.
    pub seq: i64,
    /// Id of the row within the transaction.
    pub id: i64,
}

/// An event that is stored in the outbox.
#[derive(Clone, Debug)]
pub struct OutboxEvent {
    /// Position in the order of commits.
    pub place: CommitPosition,
    /// Number of the event.
    pub id: i64,
    /// Type of the event.
    pub kind: EventKind,
    /// When the event happened.
    pub at: Timestamp,
    /// The subject of the event.
    pub about: About,
    /// The data as in [`Happening`]; `None` if it was erased.
    pub data: Option<Map<String, Value>>,
}

/// The subject of an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct About {
    /// The tag; `None` without one.
    pub tag_id: Option<TagId>,
    /// The experience; `None` without one.
    pub experience_id: Option<ExperienceId>,
    /// Whether the event belongs to the simulated world.
    pub simulated: bool,
}

impl TapHappening {
    /// The events of a tap: the tap itself, and a tampered event if the tag was tampered with.
    pub fn happenings(self) -> Vec<Happening> {
        let Self {
            interaction,
            tag,
            uid,
            ..
        } = self;
        let verdict = interaction.verdict;
        let open = |tamper| matches!(tamper, Some(Tamper::Open | Tamper::Reclosed));
        let tampered = open(interaction.tamper) && !open(self.tamper_before);
        // Add the time to the id: ids are reused after a restore, but never for taps of the same
        // time.
        let key = format!("{}_{}", interaction.id, interaction.at.millis());
        let mut tap = Happening {
            kind: EventKind::of_tap(verdict.tag_verified()),
            key: format!("tap_{key}"),
            at: interaction.at,
            tag_id: interaction.tag_id,
            experience_id: interaction.experience.map(|version| version.experience_id),
            simulated: interaction.simulated,
            data: Map::new(),
        };
        tap.data = object(&InteractionView::new(interaction, tag));
        if let Some(uid) = uid {
            tap.data.insert("uid".to_owned(), json!(uid));
        }
        let mut happenings = vec![tap];
        if tampered {
            let tampered = Happening {
                kind: EventKind::TagTampered,
                key: format!("tampered_{key}"),
                ..happenings[0].clone()
            };
            happenings.push(tampered);
        }
        happenings
    }
}

impl OutboxEvent {
    /// The event, ready for delivery; `None` if its data was erased.
    pub fn happening(self) -> Option<Happening> {
        let event = self;
        Some(Happening {
            key: format!("evt_{}_{}", event.id, event.at.millis()),
            kind: event.kind,
            at: event.at,
            tag_id: event.about.tag_id,
            experience_id: event.about.experience_id,
            simulated: event.about.simulated,
            data: event.data?,
        })
    }
}

/// The current state of an event's tag when the delivery is created, limited to the data that the
/// endpoint may see.
#[derive(Clone, Copy, Debug, Default)]
pub struct TagNow<'a> {
    /// Attributes of the tag, if they were read and the endpoint may see them.
    pub attributes: Option<&'a BTreeMap<String, String>>,
    /// Variables of the tag, under the same conditions.
    pub variables: Option<&'a BTreeMap<String, String>>,
    /// Whether the tag has moved out of the endpoint's reach, so that its slug and name are not
    /// sent.
    pub is_outside: bool,
}

impl Happening {
    /// A test event with the given number.
    pub fn test(now: Timestamp, number: u64) -> Self {
        Self {
            kind: EventKind::Test,
            key: format!("test_{}_{number:x}", now.millis()),
            at: now,
            tag_id: None,
            experience_id: None,
            simulated: false,
            data: object(&json!({"message": "This is a test event."})),
        }
    }

    /// The JSON body for an endpoint.
    pub fn body(&self, of: &WebhookFields, tag: TagNow<'_>) -> String {
        let mut data = self.data.clone();
        if tag.is_outside {
            for name in ["slug", "tag_name"] {
                if let Some(name) = data.get_mut(name) {
                    *name = Value::Null;
                }
            }
        }
        if !of.includes(Include::Uid) {
            data.shift_remove("uid");
        }
        if !of.includes(Include::FileData) {
            data.shift_remove("file_data");
        }
        if of.includes(Include::Attributes)
            && let Some(attributes) = tag.attributes
        {
            data.insert("attributes".to_owned(), json!(attributes));
        }
        if of.includes(Include::Variables) {
            if let Some(variables) = tag.variables {
                data.insert("variables".to_owned(), json!(variables));
            }
        } else {
            data.shift_remove("fields");
            let changes = data.get_mut("changes").and_then(Value::as_array_mut);
            for change in changes
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                change.retain(|name, _| name == "key");
            }
        }
        json!({"type": self.kind, "timestamp": self.at, "data": data}).to_string()
    }
}

/// A change of a tag, as stored in the outbox.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TagUpdatedEvent)]
pub struct TagUpdated {
    /// The tag that changed.
    #[serde(flatten)]
    pub tag: TagName,
    /// The interaction whose rolling key was used; null for a change by the owner.
    pub interaction_id: Option<crate::id::InteractionId>,
    /// The variables that changed. `old` and `new` are included only on request.
    pub changes: Vec<crate::interaction::Change>,
    /// Whether the tag belongs to the simulated world.
    pub simulated: bool,
}

/// A message for the operator.
#[derive(Clone, Debug)]
pub struct Alert {
    /// Type of the alert.
    pub kind: EventKind,
    /// The subject of the alert.
    pub about: About,
    /// Further data, including `message`.
    pub data: Value,
}

impl Alert {
    /// An alert with a message for people.
    pub fn new(kind: EventKind, message: &str, mut data: Value) -> Self {
        if let Some(data) = data.as_object_mut() {
            data.insert("message".to_owned(), message.into());
        }
        Self {
            kind,
            about: About::default(),
            data,
        }
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        self.data["message"].as_str().unwrap_or_default()
    }
}

/// Converts a value that is a JSON object.
pub fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::{EventFilter, EventWorld};

    #[test]
    fn each_type_has_the_name_that_json_has() {
        for (kind, name) in EventKind::ALL {
            assert_eq!(json!(kind), json!(name));
            assert_eq!(kind.as_str(), name);
            assert_eq!(EventKind::parse(name), Some(kind));
        }
    }

    #[test]
    fn what_is_personal_is_told_only_if_it_is_asked_for() {
        let happening = Happening {
            kind: EventKind::TagUpdated,
            key: "evt_1".to_owned(),
            at: Timestamp::from_millis(0),
            tag_id: None,
            experience_id: None,
            simulated: false,
            data: object(&json!({
                "tag_id": 1, "uid": "04", "file_data": {"hex": "00"}, "fields": {"name": "A"},
                "changes": [{"key": "k", "old": "secret", "new": "secret"}]
            })),
        };
        let mut endpoint = WebhookFields {
            url: String::new(),
            events: Vec::new(),
            filter: EventFilter {
                world: EventWorld::All,
                ..EventFilter::default()
            },
            enabled: true,
            include: Vec::new(),
        };
        let variables = BTreeMap::from([("k".to_owned(), "secret".to_owned())]);
        let tag = TagNow {
            attributes: Some(&variables),
            variables: Some(&variables),
            is_outside: false,
        };
        let bare = happening.body(&endpoint, tag);
        assert_eq!(
            bare,
            r#"{"type":"tag.updated","timestamp":"1970-01-01T00:00:00Z","data":{"tag_id":1,"changes":[{"key":"k"}]}}"#
        );
        endpoint.include = vec![Include::Uid, Include::Variables, Include::FileData];
        let whole = happening.body(&endpoint, tag);
        for part in ["uid", "file_data", "fields", "secret", "variables"] {
            assert!(whole.contains(part), "{whole}");
        }
        assert!(!whole.contains("attributes"), "{whole}");
        endpoint.include = vec![Include::Attributes];
        let told = happening.body(&endpoint, tag);
        assert!(told.contains(r#""attributes":{"k":"secret"}"#), "{told}");
        assert!(!told.contains("variables"), "{told}");
    }
}
