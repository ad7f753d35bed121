//! Events, and their bodies.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::endpoint::{Include, WebhookFields};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, TagId};
use crate::inlay::Uid;
use crate::inlay::assessment::Tamper;
use crate::interaction::{Interaction, InteractionView, TagName};

/// The types of events.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
pub enum EventKind {
    /// A tap that the code proved.
    #[serde(rename = "tap.verified")]
    TapVerified,
    /// A tap with a code that proved nothing.
    #[serde(rename = "tap.not_verified")]
    TapNotVerified,
    /// A tap that was not checked.
    #[serde(rename = "tap.not_checked")]
    TapNotChecked,
    /// A tag was changed: by a visitor with a rolling key, or by its owner.
    #[serde(rename = "tag.updated")]
    TagUpdated,
    /// A tag's tamper loop is open, or was, and its tap before this one did not say so.
    #[serde(rename = "tag.tampered")]
    TagTampered,
    /// An inlay was encoded, and its tap was verified.
    #[serde(rename = "inlay.encoded")]
    InlayEncoded,
    /// A visitor sent a form.
    #[serde(rename = "submission.created")]
    SubmissionCreated,
    /// An endpoint was switched off.
    #[serde(rename = "alert.webhook_disabled")]
    AlertWebhookDisabled,
    /// The encoding root is in no backup.
    #[serde(rename = "alert.root_not_backed_up")]
    AlertRootNotBackedUp,
    /// A scheduled backup is not good.
    #[serde(rename = "alert.backup_failed")]
    AlertBackupFailed,
    /// The database did not take writes.
    #[serde(rename = "alert.writer_failed")]
    AlertWriterFailed,
    /// The disk has little room left.
    #[serde(rename = "alert.disk_low")]
    AlertDiskLow,
    /// Too many wrong codes came for an inlay.
    #[serde(rename = "alert.inlay_guessed")]
    AlertInlayGuessed,
    /// A one-time URL is opened again and again.
    #[serde(rename = "alert.copied_url")]
    AlertCopiedUrl,
    /// A test event.
    #[serde(rename = "webhook.test")]
    Test,
}

impl EventKind {
    /// All types, with their names.
    pub const ALL: [(Self, &'static str); 15] = [
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
        (Self::AlertDiskLow, "alert.disk_low"),
        (Self::AlertInlayGuessed, "alert.inlay_guessed"),
        (Self::AlertCopiedUrl, "alert.copied_url"),
        (Self::Test, "webhook.test"),
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        let named = Self::ALL.iter().find(|(kind, _)| *kind == self);
        named.map_or("", |(_, name)| name)
    }

    /// The type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(_, known)| *known == name);
        named.map(|(kind, _)| *kind)
    }

    /// Whether it is about the service rather than about a tag: filters do not apply.
    pub const fn is_alert(self) -> bool {
        matches!(
            self,
            Self::AlertWebhookDisabled
                | Self::AlertRootNotBackedUp
                | Self::AlertBackupFailed
                | Self::AlertWriterFailed
                | Self::AlertDiskLow
                | Self::AlertInlayGuessed
                | Self::AlertCopiedUrl
                | Self::Test
        )
    }

    /// Whether it is about a tap, which may be of no tag.
    pub(crate) const fn is_tap(self) -> bool {
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

/// An event on its way to endpoints.
#[derive(Clone, Debug)]
pub struct Happening {
    /// Its type.
    pub kind: EventKind,
    /// Its `webhook-id`, the same for every endpoint and every attempt.
    pub key: String,
    /// When it happened.
    pub at: Timestamp,
    /// The tag it is about.
    pub tag_id: Option<TagId>,
    /// The experience that the tap led to.
    pub experience_id: Option<ExperienceId>,
    /// Whether it is simulated.
    pub simulated: bool,
    /// As the admin API shows it, with everything that an endpoint may ask for.
    data: Map<String, Value>,
}

/// A tap, as far as events tell of it.
#[derive(Clone, Debug)]
pub struct TapHappening {
    /// Its place in the order of commits.
    pub place: Place,
    /// The tap.
    pub interaction: Interaction,
    /// The tag; none if the inlay that made the code was on none.
    pub tag: Option<TagName>,
    /// The UID of the inlay that made an authentic code.
    pub uid: Option<Uid>,
    /// What the tag's tap before it said of the tamper loop.
    pub tamper_before: Option<Tamper>,
}

/// A place in the order of commits. On PostgreSQL several rows of one transaction share `seq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its transaction.
    pub seq: i64,
    /// The row in it.
    pub id: i64,
}

/// An event that is a row of the outbox.
#[derive(Clone, Debug)]
pub struct OutboxEvent {
    /// Its place in the order of commits.
    pub place: Place,
    /// Its number.
    pub id: i64,
    /// Its type.
    pub kind: EventKind,
    /// When it happened.
    pub at: Timestamp,
    /// What it is about.
    pub about: About,
    /// Its data, as [`Happening`] has it; `None` if what it tells of is erased.
    pub data: Option<Map<String, Value>>,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct About {
    /// The tag.
    pub tag_id: Option<TagId>,
    /// The experience.
    pub experience_id: Option<ExperienceId>,
    /// Whether it is simulated.
    pub simulated: bool,
}

impl TapHappening {
    /// The events of a tap: its own, and that the tag was tampered with.
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
        // Ids are given again after a restore; no tap of the same id is at the same time.
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
    /// The event to be delivered; `None` if what it tells of is erased.
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

impl Happening {
    /// A test event.
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

    /// The body for an endpoint. `variables` are those of the tag, as far as they are asked for.
    pub fn body(&self, of: &WebhookFields, variables: Option<&BTreeMap<String, String>>) -> String {
        let mut data = self.data.clone();
        if !of.includes(Include::Uid) {
            data.shift_remove("uid");
        }
        if !of.includes(Include::FileData) {
            data.shift_remove("file_data");
        }
        if of.includes(Include::Variables) {
            if let Some(variables) = variables {
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

/// What the outbox tells of a change of a tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TagUpdatedEvent)]
pub struct TagUpdated {
    /// The tag.
    #[serde(flatten)]
    pub tag: TagName,
    /// The interaction whose rolling key it was; null for a change by the owner.
    pub interaction_id: Option<crate::id::InteractionId>,
    /// The variables that changed; `old` and `new` only if they are asked for.
    pub changes: Vec<crate::interaction::Change>,
    /// Whether it is simulated.
    pub simulated: bool,
}

/// Something that its operator should know.
#[derive(Clone, Debug)]
pub struct Alert {
    /// Its type.
    pub kind: EventKind,
    /// What it is about.
    pub about: About,
    /// Its data.
    pub data: Value,
}

impl Alert {
    /// An alert with a sentence for people.
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

    /// Its sentence.
    pub fn message(&self) -> &str {
        self.data["message"].as_str().unwrap_or_default()
    }
}

/// A value that is an object, as one.
pub(crate) fn object(value: &impl Serialize) -> Map<String, Value> {
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
        let bare = happening.body(&endpoint, Some(&variables));
        assert_eq!(
            bare,
            r#"{"type":"tag.updated","timestamp":"1970-01-01T00:00:00Z","data":{"tag_id":1,"changes":[{"key":"k"}]}}"#
        );
        endpoint.include = vec![Include::Uid, Include::Variables, Include::FileData];
        let whole = happening.body(&endpoint, Some(&variables));
        for part in ["uid", "file_data", "fields", "secret", "variables"] {
            assert!(whole.contains(part), "{whole}");
        }
    }
}
