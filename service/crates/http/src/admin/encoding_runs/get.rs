//! `GET /admin/v1/encoding-runs/{id}`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::EncodingRunId;
use encoding::run::{Run, RunNext, RunRow};

/// An encoding run with its chips.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeEncodingRun {
    #[serde(flatten)]
    run: Run,
    /// The tag that the next new chip gets; null if no tag is left or the run is closed.
    next: Option<RunNext>,
    /// The chips of the run, in the order in which they were placed on the reader.
    rows: Vec<RunRow>,
}

/// Get an encoding run with its chips
#[utoipa::path(
    get, path = "/encoding-runs/{id}", tag = "encodings", params(("id" = EncodingRunId, Path)),
    responses((status = OK, body = WholeEncodingRun), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<EncodingRunId>,
) -> Result<Edited<WholeEncodingRun>, ApiError> {
    let missing = ApiError::NotFound("encoding run");
    let rows = service.storage.encoding_run_rows(id).await?;
    let rows = rows.ok_or(missing.clone())?;
    let next = service.storage.next_run_tag(id).await?;
    let next = next.ok_or(missing.clone())?;
    let run = service.storage.encoding_run(id).await?.ok_or(missing)?;
    let whole = |run| WholeEncodingRun { run, next, rows };
    Ok(Edited::shown_as(run, whole))
}
