//! `PATCH /admin/v1/encoding-runs/{id}`.

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::{Partial, Patch};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use domain::id::EncodingRunId;
use domain::revision::{Precondition, Revised as _};
use domain::scope::Scope;
use encoding::run::{self, Run, RunFields};

/// A merge patch of the members of a run.
type EncodingRunPatch = Partial<RunFields>;

/// Change an encoding run
///
/// A merge patch (RFC 7396). `"closed": true` closes the run, `false` opens it again. A run with a
/// pattern creates tags: to open it again, or to plan more inlays, the token also needs the scope
/// `tags`.
#[utoipa::path(
    patch, path = "/encoding-runs/{id}", tag = "encodings", params(("id" = EncodingRunId, Path)),
    request_body(content = EncodingRunPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = Run), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<EncodingRunId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<Run>, ApiError> {
    let expected = if requester.rights().allow(Scope::Tags) {
        expected
    } else {
        let before = service.storage.encoding_run(id).await?;
        let before = before.ok_or(ApiError::NotFound("encoding run"))?;
        let after: RunFields = patch.apply(&before.fields).map_err(ApiError::Invalid)?;
        if before.plan.pattern.is_some() && run::grows(&before.fields, &after) {
            return Err(ApiError::Scope(Scope::Tags));
        }
        // The permission was checked for the revision that was read, so change only that revision.
        let seen = expected.check(Some(&before)).map(|()| before.revision());
        Precondition::OneOf(seen.into_iter().collect())
    };
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
