//! `DELETE /admin/v1/submissions/{id}`, and the erasure of all submissions of a person.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, BadBody, Common, Invalid, NotFound, Written};
use app::visitor_data::{self, Person};
use domain::field_error::FieldError;
use domain::id::{ExperienceId, SubmissionId, TagId};
use domain::tag::VALUE_MAX;

/// Options of the erasure.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EraseOptions {
    /// Whether to empty variables of the tag that still have a value of the submission.
    empty_variables: bool,
}

/// Erase a submission
///
/// Erases the submission with the copies for webhooks, the values in the trace of its tap, and the
/// values of these variables in the audit log of the tag. Later updates of the tag lose these
/// values where they are the old values. Events that webhooks keep, or have not sent yet, lose
/// them, too. The tap, its verdict and its count stay, because counters and statistics depend on
/// them. The values of the tag's variables also stay, unless `empty_variables` is `true`; no event
/// contains the values that stay. Earlier exports and deliveries cannot be erased. If a form can be
/// sent once per tag, it can be sent again.
#[utoipa::path(
    delete, path = "/submissions/{id}", tag = "submissions",
    params(("id" = SubmissionId, Path), EraseOptions),
    responses((status = NO_CONTENT, description = "Erased"), NotFound, Invalid, Written, Common)
)]
pub(crate) async fn erase(
    Asked(service): Asked,
    Id(id): Id<SubmissionId>,
    Query(options): Query<EraseOptions>,
) -> Result<StatusCode, ApiError> {
    let storage = &service.storage;
    let found = storage.submission(id).await?;
    let found = found.ok_or(ApiError::NotFound("submission"))?;
    visitor_data::erase_submission(storage, found, options.empty_variables).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The person whose data is erased.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasePerson {
    /// A value that the person entered, such as an e-mail address. Selects all submissions and
    /// updates with a value that equals this text. Upper and lower case are the same.
    #[schema(min_length = 1, max_length = 4096)]
    value: String,
    /// Only submissions and updates of this tag.
    #[serde(default)]
    tag_id: Option<TagId>,
    /// Only submissions and updates of this experience.
    #[serde(default)]
    experience_id: Option<ExperienceId>,
    /// Whether to empty variables that still have an erased value.
    #[serde(default)]
    empty_variables: bool,
    /// Whether to count the matches without erasing them.
    #[serde(default)]
    dry_run: bool,
}

/// The result of the erasure.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErasedPerson {
    /// Number of submissions, and of updates without a form, that were erased, or would be in a dry
    /// run.
    erased: u64,
}

/// Erase the entries of a person
///
/// Erases all submissions that contain a value, and all updates without a form that set a variable
/// to it, in the real and the simulated world. Each is erased like a single submission. This
/// happens step by step, so that taps continue. If the request is interrupted, only a part is
/// erased: send it again. The audit log records the erasure, but not the person.
#[utoipa::path(
    post, path = "/submissions/erase", tag = "submissions", request_body = ErasePerson,
    responses((status = OK, body = ErasedPerson), BadBody, Written, Common)
)]
pub(crate) async fn erase_person(
    Asked(service): Asked,
    Body(person): Body<ErasePerson>,
) -> Result<Json<ErasedPerson>, ApiError> {
    if person.value.trim().is_empty() || person.value.len() > VALUE_MAX {
        let why = format!("value is a text of 1 to {VALUE_MAX} bytes.");
        return Err(ApiError::Invalid(FieldError::of("value", why)));
    }
    service
        .storage
        .asks(json!({ "empty_variables": person.empty_variables }));
    let storage = &service.storage;
    let dry_run = person.dry_run;
    let person = Person {
        value: person.value,
        tag_id: person.tag_id,
        experience_id: person.experience_id,
        empty_variables: person.empty_variables,
    };
    let erased = if dry_run {
        visitor_data::count_person(storage, person).await?
    } else {
        visitor_data::erase_person(storage, person).await?
    };
    Ok(Json(ErasedPerson { erased }))
}
