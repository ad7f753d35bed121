//! The history of interactions.
//!
//! Its only index is its key, because each further index would cost every tap a page. Searches walk
//! the interactions one by one, the newest first, and each operation examines a bounded number.

pub(crate) mod row;

use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId, InlayId, InteractionId, TagId};
use domain::interaction::{Interaction, Reason, TagName, VerificationState};
use domain::report::TestTapCounts;
use domain::world::World;
use inlay::assessment::Tamper;

/// Most interactions that one operation on the history examines.
pub const LOOKED_AT_MAX: usize = 20_000;
/// Most interactions that the figures of a period are computed from.
pub const SAMPLE_MAX: usize = 50_000;

/// The tag id in rows of interactions without a tag. Tag ids begin at 1, so these interactions are a
/// history of their own, which is walked, counted and erased like a tag's.
const NO_TAG: i64 = 0;

/// The tag of a row of the history; `None` for an interaction without a tag.
pub(super) fn tag_of(row: i64) -> Option<TagId> {
    TagId::try_from(row).ok()
}

/// The tag id in rows of interactions with or without a tag.
pub(super) fn row_of(tag: Option<TagId>) -> i64 {
    tag.map_or(NO_TAG, TagId::get)
}

/// Selects interactions; an absent member selects all.
#[derive(Clone, Copy, Debug, Default)]
pub struct InteractionFilter {
    /// Interactions of this tag. They are found without examining others.
    pub tag_id: Option<TagId>,
    /// Interactions of inlays on no tag. They are found as quickly as those of one tag.
    pub no_tag: bool,
    /// Interactions that led to this experience.
    pub experience_id: Option<ExperienceId>,
    /// Interactions of tags that are now in this group, or in a group below it.
    pub group_id: Option<GroupId>,
    /// Interactions with an authentic code of this inlay.
    pub inlay_id: Option<InlayId>,
    /// No interactions at all: those of an inlay that does not exist. None is examined.
    pub none: bool,
    /// Interactions with this verification result.
    pub verification: Option<VerificationState>,
    /// Interactions with this reason.
    pub reason: Option<Reason>,
    /// `true` for interactions before which reads of their inlay never reached the service, `false`
    /// for the others.
    pub missed_reads: Option<bool>,
    /// Interactions whose inlay reported this state of its tamper loop.
    pub tamper: Option<Tamper>,
    /// Interactions at this time or later.
    pub since: Option<Timestamp>,
    /// Interactions before this time.
    pub until: Option<Timestamp>,
    /// Real interactions, simulated ones, or both.
    pub world: World,
}

impl InteractionFilter {
    /// The single history to search, if the filter names a tag or the interactions without a tag.
    #[expect(
        clippy::option_option,
        reason = "the inner `None` is the history of interactions without a tag"
    )]
    pub(super) fn history(&self) -> Option<Option<TagId>> {
        self.tag_id.map(Some).or(self.no_tag.then_some(None))
    }

    /// Whether the filter selects `interaction`. The group of its tag is in other rows, and not
    /// compared here.
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

/// A section of the history, the newest interaction first.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The matching interactions, each with its tag.
    pub found: Vec<(Interaction, Option<TagName>)>,
    /// Where the next section begins; `None` at the end of the history.
    pub next: Option<InteractionId>,
}

/// Figures of a period.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// Taps by the beginning of their hour and by reason. Exact.
    pub counts: Vec<(Timestamp, Reason, u64)>,
    /// The most tapped tags with their number of taps, the most tapped first.
    pub top_tags: Vec<(TagName, u64)>,
    /// Verified taps before which reads of their inlay never reached the service.
    pub counter_gaps: u64,
    /// Tags in use that were tapped and currently lead to no experience.
    pub unset_tags: u64,
    /// Whether the figures of tags and gaps cover the whole period, and not only its newest
    /// [`SAMPLE_MAX`] interactions.
    pub complete: bool,
    /// Number of inlays with factory keys.
    pub factory_keys: u64,
    /// Number of inlays whose counter has reached its maximum.
    pub used_up: u64,
    /// Number of tags of which an inlay reported an open tamper loop.
    pub opened_tags: u64,
}

/// Figures of a period, of the tags in a group and in all groups below it.
#[derive(Clone, Debug, Default)]
pub struct GroupOverview {
    /// The figures. Its counts have no test taps.
    pub overview: Overview,
    /// Test taps of the period.
    pub test_taps: TestTapCounts,
    /// The first hour whose taps are still counted by the hour; `None` if no count was removed.
    pub hours_since: Option<i64>,
}
