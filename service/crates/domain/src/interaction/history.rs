//! Recorded interactions, for later queries.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Change, Returning, TapOrigin, Tech, Traits, Verdict, VersionRef};
use crate::clock::Timestamp;
use crate::id::{GroupId, InlayId, InteractionId, TagId};
use crate::scope::Reach;
use inlay::assessment::Tamper;

/// A recorded interaction, as stored.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// Identifier, which also orders interactions.
    pub id: InteractionId,
    /// Time of the tap.
    pub at: Timestamp,
    /// The tag; `None` if the inlay that made the code was on no tag.
    pub tag_id: Option<TagId>,
    /// The inlay that made an authentic code.
    pub inlay_id: Option<InlayId>,
    /// Verdict on the code.
    pub verdict: Verdict,
    /// The way of scanning.
    pub tech: Tech,
    /// The experience and version that the visitor got.
    pub experience: Option<VersionRef>,
    /// The recalled group that decided the visitor's page; `None` if none was recalled.
    pub recalled_by: Option<GroupId>,
    /// Country code; empty if it is not known or was erased.
    pub country: String,
    /// Further facts about the visitor.
    pub traits: Traits,
    /// Whether the client tapped the tag before.
    pub returning: Returning,
    /// The state of the inlay's tamper loop; `None` if it has no loop.
    pub tamper: Option<Tamper>,
    /// The decrypted file data of its code.
    pub file_data: Option<Vec<u8>>,
    /// Whether the answer contained a rolling key.
    pub key_issued: bool,
    /// Whether the tap is simulated.
    pub simulated: bool,
    /// The origin of the tap.
    pub origin: TapOrigin,
    /// The tag's interaction before it.
    pub previous: Option<InteractionId>,
}

impl Interaction {
    /// Whether its experience is within `reach`.
    pub fn is_within(&self, reach: &Reach) -> bool {
        reach.has(self.experience.map(|version| version.experience_id))
    }
}

/// The names of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagName {
    /// Tag that has the names.
    pub tag_id: TagId,
    /// The last part of its URL.
    pub slug: String,
    /// Name that the owner gave it.
    pub tag_name: String,
}

/// An update of variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordedUpdate {
    /// Time of the update.
    pub at: Timestamp,
    /// The changes. Empty if erased.
    pub changes: Vec<Change>,
}

/// A refused update with a valid key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RefusedUpdate)]
pub struct RecordedRefusal {
    /// Time of the refusal.
    pub at: Timestamp,
    /// Reason for the refusal.
    pub fault: UpdateFault,
    /// The variable that the tag lacked, if that is the reason.
    pub variable: Option<String>,
}

/// Why an update with a valid key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateFault {
    /// The tag does not have the variable: an update changes variables but creates none.
    UnknownVariable,
    /// The tag is deleted, or has no experience any more.
    NotAssigned,
    /// The tag requires a verified tap.
    NotVerified,
}

impl UpdateFault {
    /// The name in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownVariable => "unknown_variable",
            Self::NotAssigned => "not_assigned",
            Self::NotVerified => "not_verified",
        }
    }

    /// The fault of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::UnknownVariable, Self::NotAssigned, Self::NotVerified]
            .into_iter()
            .find(|fault| fault.as_str() == name)
    }
}

/// The reads of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordedReads {
    /// Time of the first read.
    pub first_at: Timestamp,
    /// How many there were.
    pub reads: u32,
}
