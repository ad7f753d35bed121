//! `GET /admin/v1/submissions`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, InteractionId, SubmissionId, TagId};
use domain::interaction::VerificationState;
use domain::submission::{Submission, SubmissionState};
use domain::tag::VALUE_MAX;
use domain::world::World;
use storage::SubmissionFilter;

/// Filters of submissions. All of them must match.
#[derive(Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListSubmissions {
    /// Only submissions of this tag.
    tag_id: Option<TagId>,
    /// Only submissions of forms of this experience.
    experience_id: Option<ExperienceId>,
    /// Only submissions of tags that are now in this group, or in a group below it.
    group_id: Option<GroupId>,
    /// Only submissions of taps with this verdict.
    #[param(inline)]
    verification: Option<VerificationState>,
    /// `true`: only submissions with a consent. `false`: only submissions without one.
    consent: Option<bool>,
    /// Only submissions with a value that contains this text, in either case.
    #[param(max_length = 4096)]
    q: Option<String>,
    /// Only submissions with a value that equals this text, in either case, to find the data of one
    /// person. Each line of a value with several lines counts as a value.
    #[param(max_length = 4096)]
    value: Option<String>,
    /// Only submissions at this time or later.
    since: Option<Timestamp>,
    /// Only submissions before this time.
    until: Option<Timestamp>,
    /// Only the submission of this tap.
    interaction_id: Option<InteractionId>,
    /// `saved`, `refused` for submissions that were kept although they could not be saved, or
    /// `all`.
    #[param(inline)]
    state: SubmissionState,
    /// `false` for real submissions, `true` for simulated ones, `all` for both.
    #[param(inline)]
    simulated: World,
    /// Whether to count the items of all pages. Not for an export.
    pub(super) count: bool,
}

/// List submissions
///
/// Submissions of forms of studio experiences, the newest first. A submission is stored with the
/// update of its variables, and stays when they change again.
///
/// A form is refused if the tag lacks its variables or leads nowhere. It is kept with
/// `state=refused`: at most one per tap, and 100 per tag. `not_saved` explains the problem, and
/// `POST /submissions/{id}/save` saves it.
#[utoipa::path(
    get, path = "/submissions", tag = "submissions", params(ListSubmissions, PageParams),
    responses((status = OK, body = Page<Submission>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<SubmissionId, ListSubmissions>,
) -> Result<Json<Page<Submission>>, ApiError> {
    let filter = list.filter.clone().check()?;
    let storage = &service.storage;
    let count = storage.count_submissions(filter.clone());
    let count = counted(list.filter.count, count).await?;
    let found = storage
        .submissions(filter, list.after, list.and_one_more())
        .await?;
    let page = list.page(found, |submission: &Submission| submission.id);
    Ok(Json(page.with_count(count)))
}

impl ListSubmissions {
    /// Checks the filter. A text that no value can contain is an error.
    pub(super) fn check(self) -> Result<SubmissionFilter, ApiError> {
        for (name, text) in [("q", &self.q), ("value", &self.value)] {
            if text.as_ref().is_some_and(|text| text.len() > VALUE_MAX) {
                let why = format!("{name} has at most {VALUE_MAX} bytes.");
                return Err(ApiError::Invalid(FieldError::of(name, why)));
            }
        }
        Ok(SubmissionFilter {
            tag_id: self.tag_id,
            experience_id: self.experience_id,
            group_id: self.group_id,
            verification: self.verification,
            consent: self.consent,
            q: self.q,
            value: self.value,
            since: self.since,
            until: self.until,
            interaction_id: self.interaction_id,
            state: self.state,
            world: self.simulated,
        })
    }
}
