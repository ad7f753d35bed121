//! Personal data: the records of one visitor of a tag, and the values that a person entered.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::StorageError;
use domain::clock::Timestamp;
use domain::id::{ExperienceId, InteractionId, TagId};
use domain::interaction::{Reason, TapOrigin};
use domain::submission::Submission;

/// The values that a person entered at one tag, to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The tag whose variables got the values.
    pub tag: TagId,
    /// When the first value was entered.
    pub since: Timestamp,
    /// The values that each variable got. Empty values identify nobody and are left out.
    pub values: BTreeMap<String, BTreeSet<String>>,
}

impl Entered {
    /// An empty collection for an update at `since`.
    pub const fn at(tag: TagId, since: Timestamp) -> Self {
        Self {
            tag,
            since,
            values: BTreeMap::new(),
        }
    }

    /// Adds a value, unless it is empty.
    pub fn add(&mut self, variable: &str, value: &str) {
        if !value.is_empty() {
            let values = self.values.entry(variable.to_owned()).or_default();
            values.insert(value.to_owned());
        }
    }

    /// Whether the variable got this value.
    pub fn has(&self, variable: &str, value: &str) -> bool {
        let values = self.values.get(variable);
        values.is_some_and(|values| values.contains(value))
    }

    /// The values that forms sent, for each tag.
    pub fn of_submissions(sent: &[Submission]) -> Vec<Self> {
        let mut by_tag: BTreeMap<i64, Self> = BTreeMap::new();
        // Values of unsaved submissions are stored only in the submission.
        for one in sent.iter().filter(|one| one.not_saved.is_none()) {
            let of_tag = by_tag.entry(one.tag_id.get());
            let of_tag = of_tag.or_insert_with(|| Self::at(one.tag_id, one.at));
            of_tag.since = of_tag.since.min(one.at);
            for field in &one.fields {
                of_tag.add(field.variable.as_str(), &field.value);
            }
        }
        by_tag.into_values().collect()
    }
}

/// Selects updates in which a person entered a text, or which show it as the previous value.
#[derive(Clone, Copy, Debug)]
pub struct UpdateFilter {
    /// Updates of this tag.
    pub tag_id: Option<TagId>,
    /// Updates of taps that led to this experience.
    pub experience_id: Option<ExperienceId>,
}

/// A section of the updates that contain a text.
#[derive(Clone, Debug)]
pub struct FoundUpdates {
    /// Updates that set a value to the text, by the interaction of their key, with the values that
    /// they set.
    pub entered: Vec<(InteractionId, Entered)>,
    /// Updates that only show the text as a previous value.
    pub before: Vec<(InteractionId, Entered)>,
    /// Where the next section begins; `None` if there is none.
    pub next: Option<InteractionId>,
}

/// Number of test taps in one hour with the same reason and origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestTaps {
    /// The beginning of the hour.
    pub at: Timestamp,
    /// The reason of their verification results.
    pub reason: Reason,
    /// The kind of reader that made them.
    pub origin: TapOrigin,
    /// How many test taps there were.
    pub taps: u64,
}

/// The operations on one visitor of a tag, and on the values that persons entered.
///
/// The steps of an erasure have a fixed order, so that an interrupted request can be sent again:
/// [`Self::forget_entered`], then [`Self::forget_before`] for each section of the tag's history,
/// and last the records themselves. After the first step, no later update records an erased value
/// as the previous one.
#[async_trait]
pub trait Visitors: Send + Sync {
    /// The taps of the visitor who made `tap`: `tap` itself and the taps connected to it by the
    /// cookie of a rolling key, the newest first. Erased taps are left out.
    async fn taps_of_visitor(&self, tap: InteractionId)
    -> Result<Vec<InteractionId>, StorageError>;

    /// Notes that the request of `tap` had the cookie of `earlier`, another tap of the same tag.
    async fn note_same_browser(
        &self,
        tap: InteractionId,
        earlier: InteractionId,
    ) -> Result<(), StorageError>;

    /// The test taps from one hour to another, by hour, reason and origin.
    async fn test_taps(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<TestTaps>, StorageError>;

    /// The submissions from the pages of these taps.
    async fn submissions_of_taps(
        &self,
        taps: Vec<InteractionId>,
    ) -> Result<Vec<Submission>, StorageError>;

    /// The values entered with the keys of these taps of one tag; `None` if there were none.
    async fn entered_at_taps(
        &self,
        tag: TagId,
        taps: Vec<InteractionId>,
    ) -> Result<Option<Entered>, StorageError>;

    /// Some updates after `after`, ordered by interaction, in which `text` is a whole value,
    /// ignoring case.
    async fn updates_with(
        &self,
        text: String,
        filter: UpdateFilter,
        after: Option<InteractionId>,
    ) -> Result<FoundUpdates, StorageError>;

    /// Removes the entered values from stored and unsent webhook events of other taps, and from the
    /// audit log's values of these variables. A variable that still has such a value becomes empty;
    /// without `empty_variables`, it is only marked, so that no event contains it any more.
    async fn forget_entered(
        &self,
        entered: Entered,
        empty_variables: bool,
    ) -> Result<(), StorageError>;

    /// The interactions of `among` whose update shows one of the values as the previous one.
    async fn showing_before(
        &self,
        entered: Entered,
        among: Vec<InteractionId>,
    ) -> Result<Vec<InteractionId>, StorageError>;

    /// Removes the values from these updates, where they are previous values.
    async fn forget_before(
        &self,
        entered: Entered,
        updates: Vec<InteractionId>,
    ) -> Result<(), StorageError>;

    /// Erases the updates and submissions made with the keys of these taps, and their webhook
    /// events. The fact that there was an update stays.
    async fn erase_updates(&self, taps: Vec<InteractionId>) -> Result<(), StorageError>;

    /// Erases the data of the visitor who made these taps of a tag: as [`Self::erase_updates`], and
    /// also the client, the webhook events of the taps, and the connection between the taps.
    /// Verdicts and counts stay.
    async fn erase_taps(&self, tag: TagId, taps: Vec<InteractionId>) -> Result<(), StorageError>;
}
