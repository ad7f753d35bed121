//! `POST /admin/v1/encoding-runs`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::encode;
use crate::encoding::run::{RUN_MAX, Run, RunFields, RunPlan};
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::TagId;
use crate::service::Service;

/// A run to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEncodingRun {
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// How many inlays are planned; by default as many as there are tags, or an open number if the plan has a
    /// pattern. Never fewer than there are tags, and without a pattern not more.
    #[schema(minimum = 1, maximum = 10_000)]
    planned: Option<u32>,
    /// The tags that get an inlay, in this order. Those that have one are left out; if none is left, or one is
    /// deleted or simulated, the run is refused.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    tag_ids: Vec<TagId>,
    /// What is written, and the pattern of tags that are created as the run goes.
    #[serde(default, deserialize_with = "crate::object::one")]
    plan: RunPlan,
}

/// Create an encoding run
///
/// Each chip that is laid down becomes the inlay of the next of its tags: `POST /encodings` with
/// its `run_id`. A chip that was torn away comes back to its own tag; the tag of one that is
/// rejected, given up or wiped goes to the next chip.
#[utoipa::path(
    post, path = "/encoding-runs", tag = "encodings", request_body = NewEncodingRun,
    responses((status = CREATED, body = Run), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(run): Body<NewEncodingRun>,
) -> Result<(StatusCode, Edited<Run>), ApiError> {
    let tags = u32::try_from(run.tag_ids.len()).unwrap_or(u32::MAX);
    if tags > RUN_MAX || (tags == 0 && run.plan.pattern.is_none()) {
        let why =
            format!("A run needs 1 to {RUN_MAX} tags, or a pattern for tags that it creates.");
        return Err(ApiError::Invalid(FieldError::of("tag_ids", why)));
    }
    let fields = RunFields {
        name: run.name,
        planned: run.planned,
        closed: false,
    };
    fields.validate().map_err(ApiError::Invalid)?;
    encode::check_plan(&service, &run.plan).await?;
    let storage = &service.storage;
    let run = storage.insert_encoding_run(fields, run.plan, run.tag_ids);
    Ok((StatusCode::CREATED, run.await?.into()))
}
