//! The configuration of a notification.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::channel::Channel;
use crate::clock::{Millis, Timestamp};
use crate::field_error::FieldError;
use crate::id::GroupId;
use crate::report::{Every, TimeZone};
use crate::webhook::EventKind;

/// Maximum number of notifications of an installation. Each has at most 20 recipients.
pub const NOTIFICATIONS_MAX: u64 = 100;
/// Shortest time between two messages about alerts, if the notification names none: whoever gets a
/// message has an hour to act before the next one.
const DIGEST: Millis = Millis::hours(1);

/// The subject of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// Alerts about the service: the first one at once, later ones in digests.
    Alert,
    /// A report at the end of each day or week.
    Report,
}

/// The members of a notification that its owner can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NotificationFields {
    /// Subject of the notification. It cannot change.
    pub kind: NotificationKind,
    /// Types of alerts. Empty for a report.
    #[serde(default)]
    #[schema(required = false)]
    pub events: Vec<EventKind>,
    /// Only tags in this group, or in a group below it; null for all. Of the alerts, only
    /// `alert.inlay_guessed` and `alert.copied_url` are about a tag.
    #[serde(default)]
    #[schema(required = false)]
    pub group_id: Option<GroupId>,
    /// Period of a report. For alerts, the shortest time between two messages; null for an hour.
    #[serde(default)]
    #[schema(required = false)]
    pub every: Option<Every>,
    /// IANA name of the time zone in which days and weeks begin, and in which times are written.
    #[serde(default = "utc")]
    #[schema(required = false, default = "UTC", max_length = 64)]
    pub time_zone: String,
    /// The recipients. They are replaced as a whole.
    pub channel: Channel,
    /// Whether messages are sent.
    #[serde(default = "on")]
    #[schema(required = false, default = true)]
    pub enabled: bool,
}

fn utc() -> String {
    TimeZone::UTC.name().to_owned()
}

const fn on() -> bool {
    true
}

impl NotificationFields {
    /// Checks everything but the channel, which [`Channel::check`] does before it is sealed.
    ///
    /// # Errors
    ///
    /// If a member does not fit the kind, or if there is no such time zone.
    pub fn check(mut self) -> Result<Self, FieldError> {
        let zone = TimeZone::named(&self.time_zone)?;
        zone.name().clone_into(&mut self.time_zone);
        match self.kind {
            NotificationKind::Alert => self.check_alerts()?,
            NotificationKind::Report => {
                if !self.events.is_empty() {
                    let why = "A report has no events. Leave them out, or choose the kind alert.";
                    return Err(FieldError::of("events", why));
                }
                if self.every.is_none() {
                    let why = "A report is sent every day or every week: choose one of them.";
                    return Err(FieldError::of("every", why));
                }
            }
        }
        Ok(self)
    }

    fn check_alerts(&mut self) -> Result<(), FieldError> {
        let events = |why: &'static str| Err(FieldError::of("events", why));
        self.events.sort_unstable();
        self.events.dedup();
        if self.events.is_empty() {
            return events("Choose at least one type of alert.");
        }
        let is_alert = |kind: &EventKind| kind.is_alert() && *kind != EventKind::Test;
        if !self.events.iter().all(is_alert) {
            return events(
                "A notification takes only alerts, whose types begin with alert. Other events go to a webhook, and counts of taps are in reports.",
            );
        }
        if self.group_id.is_some() && !self.events.iter().all(|kind| is_about_a_tag(*kind)) {
            return events(
                "Only alert.inlay_guessed and alert.copied_url are about a tag of a group. Leave out the others, or the group.",
            );
        }
        Ok(())
    }

    /// The time zone of the notification.
    pub fn zone(&self) -> TimeZone {
        // The name was checked when it was stored, and time zones are in the program.
        TimeZone::named(&self.time_zone).unwrap_or(TimeZone::UTC)
    }

    /// Shortest time between two messages about alerts.
    pub fn digest_after(&self) -> Millis {
        match self.every {
            None => DIGEST,
            Some(Every::Day) => Millis::days(1),
            Some(Every::Week) => Millis::days(7),
        }
    }

    /// The end of the last period that is over: the report of it is not sent if the notification
    /// begins now.
    pub fn reported_until(&self, now: Timestamp) -> Timestamp {
        let every = self.every.filter(|_| self.kind == NotificationKind::Report);
        let period = every.and_then(|every| every.last(&self.zone(), now));
        period.map_or(now, |period| period.until)
    }

    /// Whether both have the same periods of reports.
    pub fn is_due_like(&self, other: &Self) -> bool {
        (self.every, &self.time_zone) == (other.every, &other.time_zone)
    }
}

/// Whether alerts of this type name the tag that they are about.
const fn is_about_a_tag(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::AlertInlayGuessed | EventKind::AlertCopiedUrl
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn field(members: &Value) -> Option<String> {
        let mut all = json!({"kind": "alert", "channel": {"mail": ["a@example.com"]}});
        let members = members.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        let fields: NotificationFields = serde_json::from_value(all).unwrap();
        let error = fields.check().err();
        error.map(|error| error.field.unwrap_or_default().into_owned())
    }

    #[test]
    fn each_kind_has_the_members_that_it_needs() {
        let disk = json!(["alert.disk_low"]);
        for (members, refused) in [
            (json!({"events": disk}), None),
            (json!({"events": disk, "every": "day"}), None),
            (json!({"events": []}), Some("events")),
            (json!({"events": ["tap.verified"]}), Some("events")),
            (json!({"events": ["webhook.test"]}), Some("events")),
            (json!({"events": disk, "group_id": 3}), Some("events")),
            (json!({"events": ["alert.copied_url"], "group_id": 3}), None),
            (json!({"kind": "report"}), Some("every")),
            (json!({"kind": "report", "every": "week"}), None),
            (
                json!({"kind": "report", "every": "week", "events": disk}),
                Some("events"),
            ),
            (
                json!({"kind": "report", "every": "day", "time_zone": "Europe/Atlantis"}),
                Some("time_zone"),
            ),
        ] {
            assert_eq!(field(&members).as_deref(), refused, "{members}");
        }
    }
}
