//! Encoding runs: which chip gets which tag.

use super::Conflict;
use domain::id::{EncodingRunId, TagId};
use domain::tag::TagFields;
use encoding::run::{RunFields, RunPlan};

/// An edit of a run, applied inside the operation that stores it. An `Err` stores nothing; its
/// message is a sentence for people.
pub type RunEdit = Box<dyn Fn(RunFields) -> Result<RunFields, Conflict> + Send + Sync>;

/// Makes the tag of a position, for runs that create tags as they go.
pub type RunTag = Box<dyn Fn(&RunPlan, u32) -> Result<TagFields, Conflict> + Send + Sync>;

/// A place in a run: a position with its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The encoding run that contains the place.
    pub run_id: EncodingRunId,
    /// The position in the run, from 1.
    pub position: u32,
    /// The tag at this position; `None` if it does not exist yet.
    pub tag_id: Option<TagId>,
}

/// A place to reserve for a chip, in the commit that begins its encoding.
#[derive(Clone, Debug)]
pub struct KeptPlace {
    /// The place, as the decision saw it.
    pub place: RunPlace,
    /// The tag to create at this place, if there is none yet.
    pub new: Option<TagFields>,
}
