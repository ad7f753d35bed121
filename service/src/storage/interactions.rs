//! The history of interactions.
//!
//! It has no index but its key, because an index would cost every tap a page.
//! What is looked for is found by looking at one interaction after the other,
//! from the newest on, and each operation looks at a bounded number of them.

pub(in crate::storage) mod row;

use async_trait::async_trait;

use super::StorageError;
use crate::clock::Timestamp;
use crate::id::{ExperienceId, InlayId, InteractionId, TagId};
use crate::inlay::assessment::Tamper;
use crate::interaction::{Interaction, Reason, TagName, VerificationState};
use crate::trace::TracedInteraction;
use crate::world::World;

/// Most interactions that one operation on the history looks at.
pub const LOOKED_AT_MAX: usize = 20_000;
/// Most interactions that the numbers of a stretch of time are made from.
pub const SAMPLE_MAX: usize = 50_000;

/// What rows have for the tag of an interaction that has none: the ids of tags begin at 1. So
/// they are a history of their own, which is walked, counted and erased as a tag's is.
pub(super) const NO_TAG: TagId = TagId(0);

/// The tag that a row of the history names.
pub(super) fn tag_of(row: i64) -> Option<TagId> {
    Some(TagId(row)).filter(|tag| *tag != NO_TAG)
}

/// Which interactions; what is absent selects all.
#[derive(Clone, Copy, Debug, Default)]
pub struct InteractionFilter {
    /// Those of this tag. They are found without looking at others.
    pub tag_id: Option<TagId>,
    /// Those of inlays that were on no tag. They are found as those of a tag are.
    pub no_tag: bool,
    /// Those that led to this experience.
    pub experience_id: Option<ExperienceId>,
    /// Those with an authentic code of this inlay.
    pub inlay_id: Option<InlayId>,
    /// Those whose verification came to this.
    pub verification: Option<VerificationState>,
    /// Those with this reason.
    pub reason: Option<Reason>,
    /// Those before which reads of their inlay never reached the service, or the others.
    pub missed_reads: Option<bool>,
    /// Those whose inlay told this state of its tamper loop.
    pub tamper: Option<Tamper>,
    /// Those at this time or later.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
    /// Real ones, simulated ones, or both.
    pub world: World,
}

impl InteractionFilter {
    /// The history that it is looked for in, if that is one tag's or that of no tag.
    pub(super) fn history(&self) -> Option<TagId> {
        self.tag_id.or(self.no_tag.then_some(NO_TAG))
    }

    /// Whether it selects `interaction`.
    pub fn selects(&self, interaction: &Interaction) -> bool {
        let reason = interaction.verdict.reason();
        let experience = interaction.experience.map(|version| version.experience_id);
        self.tag_id.is_none_or(|id| Some(id) == interaction.tag_id)
            && (!self.no_tag || interaction.tag_id.is_none())
            && self.experience_id.is_none_or(|id| Some(id) == experience)
            && self
                .inlay_id
                .is_none_or(|id| Some(id) == interaction.inlay_id)
            && self.verification.is_none_or(|v| v == reason.verification())
            && self.reason.is_none_or(|r| r == reason)
            && self
                .missed_reads
                .is_none_or(|missed| missed == (interaction.verdict.missed_reads() > 0))
            && self
                .tamper
                .is_none_or(|state| interaction.tamper == Some(state))
            && self.since.is_none_or(|since| interaction.at >= since)
            && self.until.is_none_or(|until| interaction.at < until)
            && self.world.has(interaction.simulated)
    }
}

/// A stretch of the history, the newest interaction first.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// What was found in it, each with its tag.
    pub found: Vec<(Interaction, Option<TagName>)>,
    /// Where the next stretch begins; `None` at the end of the history.
    pub next: Option<InteractionId>,
}

/// What a stretch of time came to.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// Taps by the hour (its beginning) and reason. Exact.
    pub counts: Vec<(Timestamp, Reason, u64)>,
    /// The tags that were tapped most, most taps first.
    pub top_tags: Vec<(TagName, u64)>,
    /// Verified taps before which reads of their inlay never reached the service.
    pub counter_gaps: u64,
    /// Tags in use that were tapped and lead to no experience now.
    pub unset_tags: u64,
    /// Whether tags and gaps are of the whole stretch, not of its newest
    /// [`SAMPLE_MAX`] interactions alone.
    pub complete: bool,
    /// Inlays with factory keys.
    pub factory_keys: u64,
    /// Inlays whose counter is at its end.
    pub used_up: u64,
    /// Tags of which an inlay reported an open tamper loop.
    pub opened_tags: u64,
}

/// The operations on the history.
#[async_trait]
pub trait Interactions: Send + Sync {
    /// A stretch of the history: from `from` on, or from the newest
    /// interaction, until `limit` are found or [`LOOKED_AT_MAX`] were looked at.
    async fn interactions(
        &self,
        filter: InteractionFilter,
        from: Option<InteractionId>,
        limit: usize,
    ) -> Result<Stretch, StorageError>;

    /// An interaction with everything that is kept of it.
    async fn interaction(
        &self,
        id: InteractionId,
    ) -> Result<Option<TracedInteraction>, StorageError>;

    /// What the time from `since` to `until` came to. Its hours are whole ones:
    /// those that hold `since` and the moment before `until` included.
    async fn overview(
        &self,
        since: Timestamp,
        until: Timestamp,
        world: World,
    ) -> Result<Overview, StorageError>;

    /// Forgets some of a tag's visitors, or those of inlays on no tag; counts stay. `true`
    /// if more are left, `None` if there is no such tag, not even a deleted one.
    async fn erase_visitors(&self, tag: Option<TagId>) -> Result<Option<bool>, StorageError>;

    /// Erases what a stretch of a tag's history, or of that of inlays on no tag, says of visitors: client,
    /// country, whether they came before, and what they wrote. It begins at
    /// `from` or at the newest interaction; answers where the next one begins.
    async fn erase_history(
        &self,
        tag: Option<TagId>,
        from: Option<InteractionId>,
    ) -> Result<Option<InteractionId>, StorageError>;
}
