//! What forms sent.

use async_trait::async_trait;
use serde::Serialize;

use super::{StorageError, search};
use crate::clock::Timestamp;
use crate::id::{ExperienceId, SubmissionId, TagId};
use crate::interaction::VerificationState;
use crate::submission::{NewSubmission, Submission};
use crate::world::World;

/// Which submissions; what is absent selects all.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    /// Those of this tag.
    pub tag_id: Option<TagId>,
    /// Those of forms of this experience.
    pub experience_id: Option<ExperienceId>,
    /// Those of taps with this verdict.
    pub verification: Option<VerificationState>,
    /// Those with a consent, or those without.
    pub consent: Option<bool>,
    /// Those with a value that holds this text, in whatever case.
    pub q: Option<String>,
    /// Those with a value that is this text, in whatever case: those of a person.
    pub value: Option<String>,
    /// Those at this time or later.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
    /// Real ones, simulated ones, or both.
    pub world: World,
}

/// A stretch of an erasure.
#[derive(Clone, Copy, Debug)]
pub struct ErasedSubmissions {
    /// How many are gone.
    pub erased: u64,
    /// Where the next stretch begins; `None` if there is none.
    pub next: Option<SubmissionId>,
}

/// The operations on submissions. They are made by updates.
#[async_trait]
pub trait Submissions: Send + Sync {
    /// Those that `filter` selects before `before`, at most `limit`, the newest first.
    async fn submissions(
        &self,
        filter: SubmissionFilter,
        before: Option<SubmissionId>,
        limit: usize,
    ) -> Result<Vec<Submission>, StorageError>;

    /// How many `filter` selects.
    async fn count_submissions(&self, filter: SubmissionFilter) -> Result<u64, StorageError>;

    /// One.
    async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, StorageError>;

    /// Which forms were sent of a tag.
    async fn sent_forms(&self, tag: TagId) -> Result<Vec<String>, StorageError>;

    /// Erases one, and what is told of it. `empty_variables`: variables of the tag that have a
    /// value of it still become empty. `None` if there is none.
    async fn erase_submission(
        &self,
        id: SubmissionId,
        empty_variables: bool,
    ) -> Result<Option<()>, StorageError>;

    /// The same of all that `filter` selects, a stretch of them: from `before` on.
    async fn erase_submissions(
        &self,
        filter: SubmissionFilter,
        before: Option<SubmissionId>,
        empty_variables: bool,
    ) -> Result<ErasedSubmissions, StorageError>;

    /// Removes some of before `keep_since`. `true` if more may be left.
    async fn prune_submissions(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}

/// The columns of a new submission that its update does not say. PostgreSQL gets it as JSON.
#[derive(Serialize)]
pub(super) struct SentForm<'a> {
    pub(super) experience_id: i64,
    pub(super) experience_version: u32,
    pub(super) form: &'a str,
    pub(super) once: bool,
    pub(super) verification: &'static str,
    pub(super) fields: String,
    pub(super) folded: String,
    pub(super) consent: Option<&'a str>,
}

impl<'a> SentForm<'a> {
    pub(super) fn new(submission: &'a NewSubmission) -> Self {
        let values = submission.fields.iter().map(|field| field.value.as_str());
        Self {
            experience_id: submission.page.experience_id.0,
            experience_version: submission.page.version,
            form: &submission.form,
            once: submission.once,
            verification: submission.verification.as_str(),
            fields: serde_json::to_string(&submission.fields).unwrap_or_default(),
            folded: folded(values),
            consent: submission.consent.as_deref(),
        }
    }
}

/// Values as a search looks into them: each between line breaks, so that a whole one is found, and
/// no line of one is taken for it.
fn folded<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let mut folded = String::from("\n");
    for value in values {
        folded += &search::fold(&in_one_line(value));
        folded.push('\n');
    }
    folded
}

/// What [`folded`] has of a whole value, as a pattern.
pub(super) fn whole(value: &str) -> String {
    search::containing(&format!("\n{}\n", in_one_line(value)))
}

/// What [`folded`] has of a part of a value, as a pattern.
pub(super) fn containing(part: &str) -> String {
    search::containing(&in_one_line(part))
}

/// Text in which line breaks are vertical tabs, which nobody types.
fn in_one_line(text: &str) -> String {
    text.replace('\n', "\u{b}")
}
