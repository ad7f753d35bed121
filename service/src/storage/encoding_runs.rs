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

/// The operations on encoding runs.
#[async_trait]
pub trait EncodingRuns: Send + Sync {
    /// Stores a new run for these tags, in their order. Those that have an inlay are left out.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for a tag that does not exist.
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

    /// The run, and the tag that is kept for this chip: the one that it had, else the first that no
    /// chip has or whose chip was rejected, given up or wiped, else a new one that `make` makes, else
    /// the first that was passed over.
    ///
    /// # Errors
    ///
    /// [`InUse::RunClosed`](super::InUse::RunClosed), and
    /// [`InUse::RunFull`](super::InUse::RunFull) if no tag is left.
    async fn reserve_run_tag(
        &self,
        id: EncodingRunId,
        uid: Uid,
        make: RunTag,
    ) -> Result<Option<(Run, TagId)>, StorageError>;

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
    /// Those of [`Self::reserve_run_tag`].
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
