//! Interactions as they are looked at later.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Change, Returning, Tech, Traits, Verdict, VersionRef};
use crate::clock::Timestamp;
use crate::id::{InlayId, InteractionId, TagId};
use crate::inlay::assessment::Tamper;
use crate::scope::Reach;

/// A recorded interaction.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// Its id.
    pub id: InteractionId,
    /// Its time.
    pub at: Timestamp,
    /// The tag; `None` if the inlay that made the code was on none.
    pub tag_id: Option<TagId>,
    /// The inlay that made an authentic code.
    pub inlay_id: Option<InlayId>,
    /// The verdict.
    pub verdict: Verdict,
    /// How the visitor came.
    pub tech: Tech,
    /// Where the tap led.
    pub experience: Option<VersionRef>,
    /// Country code; empty if it is not known or was erased.
    pub country: String,
    /// What else is kept of the visitor.
    pub traits: Traits,
    /// Whether the client came before.
    pub returning: Returning,
    /// The state of the inlay's tamper loop; `None` if it has none.
    pub tamper: Option<Tamper>,
    /// The decrypted file data of its code.
    pub file_data: Option<Vec<u8>>,
    /// Whether the answer contained a rolling key.
    pub key_issued: bool,
    /// Whether it is simulated.
    pub simulated: bool,
    /// The tag's interaction before it.
    pub previous: Option<InteractionId>,
}

impl Interaction {
    /// Whether it led to an experience within `reach`.
    pub fn is_within(&self, reach: &Reach) -> bool {
        reach.has(self.experience.map(|version| version.experience_id))
    }
}

/// How a tag is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagName {
    /// The tag.
    pub tag_id: TagId,
    /// The last part of its URL.
    pub slug: String,
    /// Its name.
    pub tag_name: String,
}

/// An update of variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordedUpdate {
    /// When.
    pub at: Timestamp,
    /// The changes. Empty if erased.
    pub changes: Vec<Change>,
}

/// A refused update with a valid key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RefusedUpdate)]
pub struct RecordedRefusal {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub fault: UpdateFault,
    /// The variable that the tag lacked, if that is why.
    pub variable: Option<String>,
}

/// Why an update with a valid key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateFault {
    /// The tag has no such variable: an update changes variables and makes none.
    UnknownVariable,
    /// The tag is deleted, or leads to no experience any more.
    NotAssigned,
    /// The tag asks for a verified tap.
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

/// Reads of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordedReads {
    /// When the first one was.
    pub first_at: Timestamp,
    /// How many there were.
    pub reads: u32,
}
