//! Encoding runs: which tag is whose chip's.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::encoding::run::{Run, RunFields, RunNext, RunPlan, RunRow};
use crate::id::{EncodingRunId, TagId};
use crate::inlay::Uid;
use crate::tag::TagFields;

/// An edit of a run, applied inside the operation that stores it. An `Err` is a sentence for
/// people, and nothing is stored.
pub type RunEdit = Box<dyn Fn(RunFields) -> Result<RunFields, Conflict> + Send + Sync>;

/// Makes the tag of a position, for runs that create tags as they go.
pub type RunTag = Box<dyn Fn(&RunPlan, u32) -> Result<TagFields, Conflict> + Send + Sync>;

/// A place in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The run.
    pub run_id: EncodingRunId,
    /// The position, from 1.
    pub position: u32,
    /// Its tag; `None` if there is none yet.
    pub tag_id: Option<TagId>,
}

/// A place that is kept for a chip, in the commit that begins its encoding.
#[derive(Clone, Debug)]
pub struct KeptPlace {
    /// The place, as the decision saw it.
    pub place: RunPlace,
    /// The tag to be created for it, if it has none.
    pub new: Option<TagFields>,
}

/// The operations on encoding runs.
#[async_trait]
pub trait EncodingRuns: Send + Sync {
    /// Stores a new run for these tags, in their order. Those that have an inlay are left out. Unless
    /// the run creates tags, as many inlays are planned as are left, if nothing else is.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for a tag that does not exist or is deleted, [`Conflict::OtherWorld`] for a
    /// simulated one, and [`Conflict::Invalid`] if the planned number and that of the tags contradict
    /// each other.
    async fn insert_encoding_run(
        &self,
        fields: RunFields,
        plan: RunPlan,
        tags: Vec<TagId>,
    ) -> Result<Run, StorageError>;

    /// A run.
    async fn encoding_run(&self, id: EncodingRunId) -> Result<Option<Run>, StorageError>;

    /// At most `limit` runs, the newest first, beginning behind `after`.
    async fn encoding_runs(
        &self,
        after: Option<EncodingRunId>,
        limit: usize,
    ) -> Result<Vec<Run>, StorageError>;

    /// How many runs there are.
    async fn count_encoding_runs(&self) -> Result<u64, StorageError>;

    /// Applies `edit` to a run.
    ///
    /// # Errors
    ///
    /// What `edit` refuses.
    async fn edit_encoding_run(
        &self,
        id: EncodingRunId,
        edit: RunEdit,
    ) -> Result<Option<Run>, StorageError>;

    /// The run, and the tag that this chip gets: the one that it had, else the first that has no
    /// inlay and no chip, or whose chip was rejected, given up or wiped, or went elsewhere; else a new
    /// one, else the first that was passed over. It is kept for the chip by the turn that begins its
    /// encoding.
    ///
    /// # Errors
    ///
    /// [`InUse::RunClosed`](super::InUse::RunClosed), and
    /// [`InUse::RunFull`](super::InUse::RunFull) if no tag is left.
    async fn run_place(
        &self,
        id: EncodingRunId,
        uid: Uid,
    ) -> Result<Option<(Run, RunPlace)>, StorageError>;

    /// The tag that the next chip gets which has none yet. `None` if there is no such run;
    /// inside, if no tag is left.
    async fn next_run_tag(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Option<RunNext>>, StorageError>;

    /// Passes over the tag that the next chip would get: it comes after all others. `make` makes
    /// it, if it is to be created. Answers the tag that is next then.
    ///
    /// # Errors
    ///
    /// Those of [`Self::run_place`].
    async fn skip_run_tag(
        &self,
        id: EncodingRunId,
        make: RunTag,
    ) -> Result<Option<Option<RunNext>>, StorageError>;

    /// The chips of a run, in the order in which they were first laid down.
    async fn encoding_run_rows(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Vec<RunRow>>, StorageError>;
}
