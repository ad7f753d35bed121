//! What happens, told as it happens: to the live feed, never to a log. An event
//! carries no rolling key.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{ExperienceId, InteractionId, TagId};
use crate::interaction::{Change, Interaction, Reason};

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
        changes: Vec<Change>,
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
}

impl Event {
    /// What kind of event it is: its `event` in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Interaction { .. } => "interaction",
            Self::Update { .. } => "update",
            Self::Submission { .. } => "submission",
        }
    }

    /// The tap, if it is the event of one.
    pub const fn tap(&self) -> Option<InteractionId> {
        match self {
            Self::Interaction { interaction_id, .. } => Some(*interaction_id),
            Self::Update { .. } | Self::Submission { .. } => None,
        }
    }

    /// The interaction that it belongs to.
    pub const fn interaction(&self) -> InteractionId {
        match self {
            Self::Interaction { interaction_id, .. }
            | Self::Update { interaction_id, .. }
            | Self::Submission { interaction_id, .. } => *interaction_id,
        }
    }

    /// Whether it belongs to the simulated world.
    pub const fn simulated(&self) -> bool {
        match self {
            Self::Interaction { simulated, .. }
            | Self::Update { simulated, .. }
            | Self::Submission { simulated, .. } => *simulated,
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
