//! Submissions: the data that visitors sent with forms.

use async_trait::async_trait;
use serde::Serialize;

use super::{StorageError, search};
use domain::clock::Timestamp;
use domain::id::{ExperienceId, InteractionId, SubmissionId, TagId};
use domain::interaction::VerificationState;
use domain::submission::{NewSubmission, Submission, SubmissionState};
use domain::world::World;

/// Selects submissions; an absent member selects all.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    /// Submissions at this tag.
    pub tag_id: Option<TagId>,
    /// Submissions from forms of this experience.
    pub experience_id: Option<ExperienceId>,
    /// Submissions of taps with this verification result.
    pub verification: Option<VerificationState>,
    /// `true` for submissions with a consent, `false` for those without.
    pub consent: Option<bool>,
    /// Submissions with a value that contains this text, ignoring case.
    pub q: Option<String>,
    /// Submissions with a value that equals this text, ignoring case: they belong to one person.
    pub value: Option<String>,
    /// Submissions at this time or later.
    pub since: Option<Timestamp>,
    /// Submissions before this time.
    pub until: Option<Timestamp>,
    /// The submission of this tap.
    pub interaction_id: Option<InteractionId>,
    /// Saved submissions, refused ones, or both.
    pub state: SubmissionState,
    /// Real submissions, simulated ones, or both.
    pub world: World,
}

/// Most refused forms that are kept for a tag. Visitors could fill the database with them, so
/// further ones are refused without being kept, and the first ones stay.
pub(super) const REFUSED_MAX: i64 = 100;

/// The operations on submissions. Updates create them, and erasing an update erases its submission.
#[async_trait]
pub trait Submissions: Send + Sync {
    /// At most `limit` submissions that match `filter`, the newest first. With `before`, only
    /// submissions before that one.
    async fn submissions(
        &self,
        filter: SubmissionFilter,
        before: Option<SubmissionId>,
        limit: usize,
    ) -> Result<Vec<Submission>, StorageError>;

    /// How many submissions match `filter`.
    async fn count_submissions(&self, filter: SubmissionFilter) -> Result<u64, StorageError>;

    /// The submission with this id.
    async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, StorageError>;

    /// Saves a refused submission and its variables in one operation. `None` if there is no such
    /// submission.
    ///
    /// # Errors
    ///
    /// [`InUse::NotSavable`](super::InUse::NotSavable) while the reason for the refusal persists,
    /// and [`InUse::SavedAlready`](super::InUse::SavedAlready).
    async fn save_submission(&self, id: SubmissionId) -> Result<Option<Submission>, StorageError>;

    /// The names of the forms that were sent at a tag and saved.
    async fn sent_forms(&self, tag: TagId) -> Result<Vec<String>, StorageError>;

    /// Removes some submissions older than `keep_since`. `true` if more may be left.
    async fn prune_submissions(&self, keep_since: Timestamp) -> Result<bool, StorageError>;
}

/// The columns of a new submission that its update does not contain. PostgreSQL gets them as JSON.
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
            experience_id: submission.page.experience_id.get(),
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

/// Folds values for searches. Each value stands between line breaks, so that a search can match a
/// whole value, and never takes a line of a value for one.
fn folded<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let mut folded = String::from("\n");
    for value in values {
        folded += &search::fold(&in_one_line(value));
        folded.push('\n');
    }
    folded
}

/// A pattern that matches a whole value in the output of [`folded`].
pub(super) fn whole(value: &str) -> String {
    search::containing(&format!("\n{}\n", in_one_line(value)))
}

/// A pattern that matches a part of a value in the output of [`folded`].
pub(super) fn containing(part: &str) -> String {
    search::containing(&in_one_line(part))
}

/// Replaces line breaks in `text` by vertical tabs, which nobody types.
fn in_one_line(text: &str) -> String {
    text.replace('\n', "\u{b}")
}
