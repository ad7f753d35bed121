//! Personal data: the records of one visitor of a tag, and the values that a person entered.

use std::collections::{BTreeMap, BTreeSet};

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
