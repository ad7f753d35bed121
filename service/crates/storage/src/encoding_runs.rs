//! Encoding runs: which chip gets which tag.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::id::{EncodingRunId, TagId};
use domain::tag::TagFields;
use encoding::run::{Run, RunFields, RunNext, RunPlan, RunRow};
use inlay::Uid;

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

/// The operations on encoding runs.
#[async_trait]
pub trait EncodingRuns: Send + Sync {
    /// Stores a new run for these tags, in their order. Tags that have an inlay are left out. If no
    /// number of inlays is planned, and the run does not create tags, the number of the remaining
    /// tags is planned.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for a tag that does not exist or is deleted, [`Conflict::OtherWorld`]
    /// for a simulated tag, and [`Conflict::Invalid`] if the planned number contradicts the number
    /// of tags.
    async fn insert_encoding_run(
        &self,
        fields: RunFields,
        plan: RunPlan,
        tags: Vec<TagId>,
    ) -> Result<Run, StorageError>;

    /// The run with this id.
    async fn encoding_run(&self, id: EncodingRunId) -> Result<Option<Run>, StorageError>;

    /// At most `limit` runs, the newest first, after the run `after`.
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
    /// The error of `edit`.
    async fn edit_encoding_run(
        &self,
        id: EncodingRunId,
        edit: RunEdit,
    ) -> Result<Option<Run>, StorageError>;

    /// The run, and the tag for this chip. The order of preference is: the tag that the chip had;
    /// the first tag that has neither inlay nor chip, or whose chip was rejected, cancelled, wiped
    /// or moved to another tag; a new tag; the first tag that was skipped. The turn that begins the
    /// chip's encoding reserves the tag.
    ///
    /// # Errors
    ///
    /// [`InUse::RunClosed`](super::InUse::RunClosed), and [`InUse::RunFull`](super::InUse::RunFull)
    /// if no tag is left.
    async fn run_place(
        &self,
        id: EncodingRunId,
        uid: Uid,
    ) -> Result<Option<(Run, RunPlace)>, StorageError>;

    /// The tag for the next chip that has no tag yet. The outer `None` means that there is no such
    /// run, the inner one that no tag is left.
    async fn next_run_tag(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Option<RunNext>>, StorageError>;

    /// Skips the tag that the next chip would get: it comes after all others. `make` creates the
    /// tag if it does not exist yet. Returns the tag that is next afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`Self::run_place`].
    async fn skip_run_tag(
        &self,
        id: EncodingRunId,
        make: RunTag,
    ) -> Result<Option<Option<RunNext>>, StorageError>;

    /// The chips of a run, in the order in which they were first placed on the reader.
    async fn encoding_run_rows(
        &self,
        id: EncodingRunId,
    ) -> Result<Option<Vec<RunRow>>, StorageError>;
}
