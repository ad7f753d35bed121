//! What happens, told as it happens: to the live feed, never to a log. An event
//! carries no rolling key.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{EncodingId, EncodingRunId, ExperienceId, InlayId, InteractionId, TagId};
use crate::inlay::Uid;
use crate::interaction::{Change, Interaction, Reason};
use crate::webhook::EventKind;

/// Something that happened, committed before it is told.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A tap was recorded.
    Interaction {
        /// The interaction; its trace is at `/admin/v1/interactions/{id}`.
        interaction_id: InteractionId,
        /// The tag; null if the inlay that made the code is on none.
        tag_id: Option<TagId>,
        /// Its time.
        at: Timestamp,
        /// Its `tag_verified`.
        tag_verified: Option<bool>,
        /// Why.
        reason: Reason,
        /// Whether it is simulated.
        simulated: bool,
    },
    /// Variables were updated with a rolling key.
    Update {
        /// The interaction whose key it was.
        interaction_id: InteractionId,
        /// The tag.
        tag_id: TagId,
        /// When.
        at: Timestamp,
        /// What changed.
        #[schema(value_type = Vec<Change>)]
        changes: Arc<[Change]>,
        /// Whether it is simulated.
        simulated: bool,
    },
    /// A form was sent.
    Submission {
        /// The interaction whose page it was on.
        interaction_id: InteractionId,
        /// The tag.
        tag_id: TagId,
        /// The experience.
        experience_id: ExperienceId,
        /// When.
        at: Timestamp,
        /// Whether it is simulated.
        simulated: bool,
    },
    /// Something that the operator should know.
    Alert {
        /// Its type, as webhooks have it.
        alert: EventKind,
        /// What happened, and what to do about it.
        message: String,
        /// When.
        at: Timestamp,
    },
    /// An inlay was encoded, and its tap was verified.
    #[serde(rename = "inlay.encoded")]
    Encoded {
        /// The encoding.
        encoding_id: EncodingId,
        /// The run that it is part of.
        run_id: Option<EncodingRunId>,
        /// The tag.
        tag_id: TagId,
        /// The inlay.
        inlay_id: Option<InlayId>,
        /// The chip.
        uid: Uid,
        /// The counter of the read that proved it.
        counter: u32,
        /// When.
        at: Timestamp,
    },
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An interaction.
    Interaction(InteractionId),
    /// A tag, whoever tapped it.
    Tag(TagId),
}

impl Event {
    /// What kind of event it is: its `event` in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Interaction { .. } => "interaction",
            Self::Update { .. } => "update",
            Self::Submission { .. } => "submission",
            Self::Alert { .. } => "alert",
            Self::Encoded { .. } => "inlay.encoded",
        }
    }

    /// The tap, if it is the event of one.
    pub const fn tap(&self) -> Option<InteractionId> {
        match self {
            Self::Interaction { interaction_id, .. } => Some(*interaction_id),
            Self::Update { .. }
            | Self::Submission { .. }
            | Self::Alert { .. }
            | Self::Encoded { .. } => None,
        }
    }

    /// What it is about; an alert is about the whole service.
    pub const fn subject(&self) -> Option<Subject> {
        match self {
            Self::Interaction { interaction_id, .. }
            | Self::Update { interaction_id, .. }
            | Self::Submission { interaction_id, .. } => {
                Some(Subject::Interaction(*interaction_id))
            }
            Self::Encoded { tag_id, .. } => Some(Subject::Tag(*tag_id)),
            Self::Alert { .. } => None,
        }
    }

    /// Whether it belongs to the simulated world.
    pub const fn simulated(&self) -> bool {
        match self {
            Self::Interaction { simulated, .. }
            | Self::Update { simulated, .. }
            | Self::Submission { simulated, .. } => *simulated,
            // No virtual inlay is encoded.
            Self::Alert { .. } | Self::Encoded { .. } => false,
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
        }
    }
}

/// An event as listeners get it: one for all of them, which is made JSON once.
#[derive(Clone, Debug)]
pub struct Told(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    event: Event,
    json: OnceLock<String>,
}

impl Told {
    /// The event in JSON.
    pub fn json(&self) -> &str {
        self.0.json.get_or_init(|| {
            serde_json::to_string(&self.0.event).expect("an event has no keys but names")
        })
    }
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        Self(Arc::new(Shared {
            event,
            json: OnceLock::new(),
        }))
    }
}

impl Deref for Told {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0.event
    }
}
