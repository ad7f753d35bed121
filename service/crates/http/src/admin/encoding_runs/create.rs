//! `POST /admin/v1/encoding-runs`.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::encoder;
use domain::batch::BATCH_MAX;
use domain::field_error::FieldError;
use domain::id::TagId;
use domain::scope::Scope;
use encoding::run::{Run, RunFields, RunPlan};

/// An encoding run to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEncodingRun {
    /// Name of the run.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Number of planned inlays. By default the number of tags, or no limit if the plan has a
    /// pattern. At least the number of tags; without a pattern, at most that number.
    #[schema(minimum = 1, maximum = 10_000)]
    planned: Option<u32>,
    /// The tags that get an inlay, in this order. Tags that already have one are left out. The
    /// request fails if no tag is left, or if a tag is deleted or simulated.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    tag_ids: Vec<TagId>,
    /// The content to write, and the pattern of tags that the run creates.
    #[serde(default, deserialize_with = "domain::strict_json::one")]
    plan: RunPlan,
    /// Create the run although the address for its chips, the setting `tag_url`, is not proved.
    /// Otherwise the request fails with `address_not_proved`, unless the plan has a URL template.
    /// Each encoding of the run must allow it again.
    #[serde(default)]
    allow_unproved_address: bool,
}

/// Create an encoding run
///
/// Each new chip becomes the inlay of the next tag: send `POST /encodings` with the `run_id`. A
/// chip that was removed too early keeps its tag. If a chip is rejected, abandoned or wiped, the
/// next chip gets its tag. A plan with a pattern creates tags, so it also needs the scope `tags`.
#[utoipa::path(
    post, path = "/encoding-runs", tag = "encodings", request_body = NewEncodingRun,
    responses((status = CREATED, body = Run), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    requester: Requester,
    Body(run): Body<NewEncodingRun>,
) -> Result<(StatusCode, Edited<Run>), ApiError> {
    if run.plan.pattern.is_some() {
        requester.needs(Scope::Tags)?;
    }
    let tags = u32::try_from(run.tag_ids.len()).unwrap_or(u32::MAX);
    if tags > BATCH_MAX || (tags == 0 && run.plan.pattern.is_none()) {
        let why =
            format!("A run needs 1 to {BATCH_MAX} tags, or a pattern for tags that it creates.");
        return Err(ApiError::Invalid(FieldError::of("tag_ids", why)));
    }
    let fields = RunFields::new(run.name, run.planned);
    fields.validate().map_err(ApiError::Invalid)?;
    encoder::check_plan(&service, &run.plan, run.allow_unproved_address).await?;
    let storage = &service.storage;
    let run = storage.insert_encoding_run(fields, run.plan, run.tag_ids);
    Ok((StatusCode::CREATED, run.await?.into()))
}
