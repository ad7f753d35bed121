//! Events for the live feed, as they happen; they are never logged. An event contains no rolling
//! key.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{
    EncodingId, EncodingRunId, ExperienceId, GroupId, InlayId, InteractionId, SubmissionId, TagId,
    WebhookId,
};
use domain::interaction::{Change, Interaction, Reason, TapOrigin};
use domain::resource_kind::ResourceKind;
use domain::scope::Scope;
use domain::webhook::EventKind;
use domain::world::World;
use inlay::Uid;

/// Something that happened; it is sent after its commit.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A tap was recorded.
    Interaction {
        /// The interaction; its trace is at `/admin/v1/interactions/{id}`.
        interaction_id: InteractionId,
        /// The tag; null if the inlay that made the code is on none.
        tag_id: Option<TagId>,
        /// When the tap was made.
        at: Timestamp,
        /// The interaction's `tag_verified`; null if the tap was not checked.
        tag_verified: Option<bool>,
        /// The reason for the verification result.
        reason: Reason,
        /// Whether the interaction is simulated.
        simulated: bool,
        /// Who made the tap.
        origin: TapOrigin,
    },
    /// Variables were updated with a rolling key.
    Update {
        /// The interaction to which the key belonged.
        interaction_id: InteractionId,
        /// The tag whose variables changed.
        tag_id: TagId,
        /// When the variables were updated.
        at: Timestamp,
        /// The changed variables, with their values.
        #[schema(value_type = Vec<Change>)]
        changes: Arc<[Change]>,
        /// Whether the interaction is simulated.
        simulated: bool,
    },
    /// A visitor sent a form.
    Submission {
        /// The interaction whose page contained the form.
        interaction_id: InteractionId,
        /// The tag that was tapped.
        tag_id: TagId,
        /// The experience whose page contained the form.
        experience_id: ExperienceId,
        /// When the form was sent.
        at: Timestamp,
        /// Whether the interaction is simulated.
        simulated: bool,
    },
    /// An alert for the operator.
    Alert {
        /// The alert's type, as in webhooks.
        alert: EventKind,
        /// The problem, and the way to solve it.
        message: String,
        /// When the alert was raised.
        at: Timestamp,
    },
    /// A sample of a webhook event, for a developer. Only listeners of this node get it: no webhook,
    /// and no notification.
    Sample {
        /// The event's type, as in webhooks.
        #[serde(rename = "type")]
        kind: EventKind,
        /// The event's data, as in webhooks.
        #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
        data: Map<String, Value>,
        /// When the sample was requested.
        at: Timestamp,
    },
    /// An inlay was encoded, and its tap was verified.
    #[serde(rename = "inlay.encoded")]
    Encoded {
        /// The encoding of the chip.
        encoding_id: EncodingId,
        /// The encoding run that it belongs to, if any.
        run_id: Option<EncodingRunId>,
        /// The tag to which the inlay was bound.
        tag_id: TagId,
        /// The inlay that the encoding created or changed.
        inlay_id: Option<InlayId>,
        /// The UID of the encoded chip.
        uid: Uid,
        /// The counter of the verified read.
        counter: u32,
        /// When the tap was verified.
        at: Timestamp,
    },
    /// Resources were created, changed or deleted. A request is one event, however many resources
    /// it changed.
    Changed {
        /// The kind of the resources.
        kind: ResourceKind,
        /// The only resource that changed; null if there may be several, or if it has no id.
        id: Option<i64>,
    },
}

/// The object of an event. Whether a limited listener receives the event depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An interaction; its tag may be read by the listener.
    Interaction(InteractionId),
    /// An interaction, and its tag, whose earlier values the event contains.
    Update(InteractionId, TagId),
    /// A tag, not a particular interaction.
    Tag(TagId),
    /// An experience and its versions.
    Experience(ExperienceId),
    /// A product, batch or folder.
    Group(GroupId),
    /// A form that was sent.
    Submission(SubmissionId),
    /// A webhook and its deliveries.
    Webhook(WebhookId),
}

impl Event {
    /// The kind of the event: its `event` in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Interaction { .. } => "interaction",
            Self::Update { .. } => "update",
            Self::Submission { .. } => "submission",
            Self::Alert { .. } => "alert",
            Self::Sample { .. } => "sample",
            Self::Encoded { .. } => "inlay.encoded",
            Self::Changed { .. } => "changed",
        }
    }

    /// The interaction, if the event is a tap.
    pub const fn tap(&self) -> Option<InteractionId> {
        match self {
            Self::Interaction { interaction_id, .. } => Some(*interaction_id),
            Self::Update { .. }
            | Self::Submission { .. }
            | Self::Alert { .. }
            | Self::Sample { .. }
            | Self::Encoded { .. }
            | Self::Changed { .. } => None,
        }
    }

    /// The object of the event. `None` for an event that concerns the whole service, or resources
    /// that a limited listener has no access to.
    pub const fn subject(&self) -> Option<Subject> {
        match self {
            Self::Interaction { interaction_id, .. } | Self::Submission { interaction_id, .. } => {
                Some(Subject::Interaction(*interaction_id))
            }
            Self::Update {
                interaction_id,
                tag_id,
                ..
            } => Some(Subject::Update(*interaction_id, *tag_id)),
            Self::Encoded { tag_id, .. } => Some(Subject::Tag(*tag_id)),
            Self::Changed { kind, id: Some(id) } => match kind {
                ResourceKind::Tags => Some(Subject::Tag(TagId::new(*id))),
                ResourceKind::Interactions => Some(Subject::Interaction(InteractionId::new(*id))),
                ResourceKind::Experiences => Some(Subject::Experience(ExperienceId::new(*id))),
                ResourceKind::Groups => Some(Subject::Group(GroupId::new(*id))),
                ResourceKind::Submissions => Some(Subject::Submission(SubmissionId::new(*id))),
                ResourceKind::Webhooks => Some(Subject::Webhook(WebhookId::new(*id))),
                _ => None,
            },
            Self::Changed { id: None, .. } | Self::Alert { .. } | Self::Sample { .. } => None,
        }
    }

    /// The scope that a listener needs in order to receive the event.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Changed { kind, .. } => kind.scope(),
            _ => Scope::Read,
        }
    }

    /// Whether it is an event of `world`. Changes of resources belong to both.
    pub fn is_in(&self, world: World) -> bool {
        matches!(self, Self::Changed { .. }) || world.has(self.simulated())
    }

    /// Whether it belongs to the simulated world.
    pub const fn simulated(&self) -> bool {
        match self {
            Self::Interaction { simulated, .. }
            | Self::Update { simulated, .. }
            | Self::Submission { simulated, .. } => *simulated,
            Self::Sample { .. } => true,
            // Virtual inlays are never encoded.
            Self::Alert { .. } | Self::Encoded { .. } | Self::Changed { .. } => false,
        }
    }
}

impl From<&Interaction> for Event {
    fn from(interaction: &Interaction) -> Self {
        Self::Interaction {
            interaction_id: interaction.id,
            tag_id: interaction.tag_id,
            at: interaction.at,
            tag_verified: interaction.verdict.tag_verified(),
            reason: interaction.verdict.reason(),
            simulated: interaction.simulated,
            origin: interaction.origin,
        }
    }
}

/// An event for all listeners: they share it, and it is serialized to JSON once.
#[derive(Clone, Debug)]
pub struct SharedEvent(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    event: Event,
    json: OnceLock<String>,
}

impl SharedEvent {
    /// The event in JSON.
    pub fn json(&self) -> &str {
        self.0.json.get_or_init(|| {
            serde_json::to_string(&self.0.event).expect("an event has no keys but names")
        })
    }
}

impl From<Event> for SharedEvent {
    fn from(event: Event) -> Self {
        Self(Arc::new(Shared {
            event,
            json: OnceLock::new(),
        }))
    }
}

impl Deref for SharedEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0.event
    }
}
