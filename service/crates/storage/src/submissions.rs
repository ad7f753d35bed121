//! Submissions: the data that visitors sent with forms.

use serde::Serialize;

use super::search;
use domain::clock::Timestamp;
use domain::id::{ExperienceId, GroupId, InteractionId, TagId};
use domain::interaction::VerificationState;
use domain::submission::{NewSubmission, SubmissionState};
use domain::world::World;

/// Selects submissions; an absent member selects all.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    /// Submissions at this tag.
    pub tag_id: Option<TagId>,
    /// Submissions from forms of this experience.
    pub experience_id: Option<ExperienceId>,
    /// Submissions at tags that are now in this group, or in a group below it.
    pub group_id: Option<GroupId>,
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
        folded += &search::fold_case(&in_one_line(value));
        folded.push('\n');
    }
    folded
}

/// A pattern that matches a whole value in the output of [`folded`].
pub(super) fn whole(value: &str) -> String {
    search::containing(&search::fold_case(&format!("\n{}\n", in_one_line(value))))
}

/// A pattern that matches a part of a value in the output of [`folded`].
pub(super) fn containing(part: &str) -> String {
    search::containing(&search::fold_case(&in_one_line(part)))
}

/// Replaces line breaks in `text` by vertical tabs, which nobody types.
fn in_one_line(text: &str) -> String {
    text.replace('\n', "\u{b}")
}
