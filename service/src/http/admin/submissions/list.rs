//! `GET /admin/v1/submissions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::clock::Timestamp;
use crate::field_error::FieldError;
use crate::http::admin::page::{List, Page, PageParams, counted};
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::{ExperienceId, SubmissionId, TagId};
use crate::interaction::VerificationState;
use crate::service::Service;
use crate::storage::SubmissionFilter;
use crate::submission::Submission;
use crate::tag::VALUE_MAX;
use crate::world::World;

/// Which submissions.
#[derive(Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListSubmissions {
    /// Only those of this tag.
    tag_id: Option<TagId>,
    /// Only those of forms of this experience.
    experience_id: Option<ExperienceId>,
    /// Only those of taps with this verdict.
    #[param(inline)]
    verification: Option<VerificationState>,
    /// `true`: only those with a consent. `false`: only the others.
    consent: Option<bool>,
    /// Only those with a value that contains this text, in whatever case.
    #[param(max_length = 4096)]
    q: Option<String>,
    /// Only those with a value that is this text, in whatever case: those of a person. Of a value
    /// of several lines each counts.
    #[param(max_length = 4096)]
    value: Option<String>,
    /// Only those at this time or later.
    since: Option<Timestamp>,
    /// Only those before this time.
    until: Option<Timestamp>,
    /// `false` for real ones, `true` for simulated ones, `all` for both.
    #[param(inline)]
    simulated: World,
    /// Whether to count what is on all pages. Not of an export.
    pub(super) count: bool,
}

/// List submissions
///
/// What forms sent, the newest first. A submission is stored with the update of its variables, and
/// stays when they are changed again. Forms are those of studio experiences.
#[utoipa::path(
    get, path = "/submissions", tag = "submissions", params(ListSubmissions, PageParams),
    responses((status = OK, body = Page<Submission>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
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
    /// The filter, if its texts can be those of a value.
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
            verification: self.verification,
            consent: self.consent,
            q: self.q,
            value: self.value,
            since: self.since,
            until: self.until,
            world: self.simulated,
        })
    }
}
