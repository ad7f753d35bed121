//! `PATCH /admin/v1/encoding-runs/{id}`.

use std::sync::Arc;

use axum::extract::State;

use crate::encoding::run::{Run, RunFields};
use crate::http::admin::body::{Partial, Patch};
use crate::http::admin::edited::{Edited, IfMatch, unless_changed};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use crate::id::EncodingRunId;
use crate::service::Service;

/// The members that change.
type EncodingRunPatch = Partial<RunFields>;

/// Change an encoding run
///
/// A merge patch (RFC 7396). `"closed": true` closes it, `false` opens it again.
#[utoipa::path(
    patch, path = "/encoding-runs/{id}", tag = "encodings", params(("id" = EncodingRunId, Path)),
    request_body(content = EncodingRunPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Run), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Id(id): Id<EncodingRunId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Run>, ApiError> {
    let edit = move |before: RunFields| {
        expected.check(Some(&before))?;
        let after: RunFields = patch.apply(&before)?;
        after.validate()?;
        Ok(after)
    };
    let edited = service.storage.edit_encoding_run(id, Box::new(edit)).await;
    let run = unless_changed(edited, async {
        Ok(service.storage.encoding_run(id).await?.map(Edited::from))
    });
    run.await?
        .map(Edited::from)
        .ok_or(ApiError::NotFound("encoding run"))
}
