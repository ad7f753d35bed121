//! What is kept of one visitor of a tag.

use async_trait::async_trait;

use super::StorageError;
use crate::id::InteractionId;
use crate::submission::Submission;

/// The operations on one visitor of a tag: the one who made a certain tap. Other taps of the tag
/// are theirs if they came from the same client.
#[async_trait]
pub trait Visitors: Send + Sync {
    /// Those of `among` that the visitor of `tap` made; none once `tap` is erased.
    async fn taps_of_visitor(
        &self,
        tap: InteractionId,
        among: Vec<InteractionId>,
    ) -> Result<Vec<InteractionId>, StorageError>;

    /// What forms sent from the pages of these taps.
    async fn submissions_of_taps(
        &self,
        taps: Vec<InteractionId>,
    ) -> Result<Vec<Submission>, StorageError>;

    /// Erases what [`Self::taps_of_visitor`] finds: who made those taps, what was written and sent
    /// with them, and what webhooks keep of it. Verdicts and counts stay. `empty_variables`:
    /// variables of the tag that still have a value of the visitor become empty. Answers how many
    /// taps it were.
    async fn erase_taps_of_visitor(
        &self,
        tap: InteractionId,
        among: Vec<InteractionId>,
        empty_variables: bool,
    ) -> Result<u64, StorageError>;
}
