//! `DELETE /admin/v1/submissions/{id}`, and those of a person.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, BadBody, Common, Invalid, NotFound, Written};
use crate::id::{ExperienceId, SubmissionId, TagId};
use crate::service::Service;
use crate::storage::SubmissionFilter;
use crate::tag::VALUE_MAX;
use crate::world::World;

/// What goes with a submission.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EraseOptions {
    /// Whether variables of the tag that still have a value of the submission become empty.
    empty_variables: bool,
}

/// Erase a submission
///
/// It goes with what webhooks have of it, what the trace of its tap says was written, and the values
/// that the audit log has of these variables of the tag. The tap, its verdict and its count stay,
/// because counters and statistics follow from them, and so do the values of the tag's variables,
/// unless `empty_variables` is `true`. What was exported or delivered before is out of reach. A form
/// that can be sent once per tag can be sent again.
#[utoipa::path(
    delete, path = "/submissions/{id}", tag = "submissions",
    params(("id" = SubmissionId, Path), EraseOptions),
    responses((status = NO_CONTENT, description = "Erased"), NotFound, Invalid, Written, Common)
)]
pub(crate) async fn erase(
    State(service): State<Arc<Service>>,
    Id(id): Id<SubmissionId>,
    Query(options): Query<EraseOptions>,
) -> Result<StatusCode, ApiError> {
    let erased = service
        .storage
        .erase_submission(id, options.empty_variables)
        .await?;
    erased.ok_or(ApiError::NotFound("submission"))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whose submissions are erased.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasePerson {
    /// What the person entered: all submissions go of which a whole value is this text, in whatever
    /// case. A mail address, for example.
    #[schema(min_length = 1, max_length = 4096)]
    value: String,
    /// Only those of this tag.
    #[serde(default)]
    tag_id: Option<TagId>,
    /// Only those of this experience.
    #[serde(default)]
    experience_id: Option<ExperienceId>,
    /// Whether variables that still have a value of them become empty.
    #[serde(default)]
    empty_variables: bool,
}

/// What was erased.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErasedPerson {
    /// How many submissions.
    erased: u64,
}

/// Erase the submissions of a person
///
/// All that have a value, in the real world and in the simulated one, as the erasing of one does.
/// They go step by step, so that taps continue. If the request is interrupted, some of it is done:
/// send it again. The audit log says that it was done, and not of whom.
#[utoipa::path(
    post, path = "/submissions/erase", tag = "submissions", request_body = ErasePerson,
    responses((status = OK, body = ErasedPerson), BadBody, Written, Common)
)]
pub(crate) async fn erase_person(
    State(service): State<Arc<Service>>,
    Body(person): Body<ErasePerson>,
) -> Result<Json<ErasedPerson>, ApiError> {
    if person.value.trim().is_empty() || person.value.len() > VALUE_MAX {
        let why = format!("value is a text of 1 to {VALUE_MAX} bytes.");
        return Err(ApiError::Invalid(FieldError::of("value", why)));
    }
    let filter = SubmissionFilter {
        value: Some(person.value),
        tag_id: person.tag_id,
        experience_id: person.experience_id,
        world: World::Both,
        ..SubmissionFilter::default()
    };
    let (mut erased, mut before) = (0, None);
    loop {
        let step = service
            .storage
            .erase_submissions(filter.clone(), before, person.empty_variables)
            .await?;
        erased += step.erased;
        before = step.next;
        if before.is_none() {
            return Ok(Json(ErasedPerson { erased }));
        }
    }
}
