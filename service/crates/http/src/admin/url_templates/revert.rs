//! `POST /admin/v1/url-templates/{id}/unlisted/revert`.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use domain::clock::Timestamp;
use domain::id::UrlTemplateId;
use domain::inventory::{UnlistedMode, UrlTemplate};
use storage::MadeByTaps;

/// Which inlays and tags to delete.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevertRequest {
    /// Deletes the inlays and tags that taps created since then.
    since: Timestamp,
    /// Number of inlays that the caller expects. If the number is different, nothing is changed.
    #[serde(default)]
    expected_count: Option<u64>,
    /// Whether to only count.
    #[serde(default)]
    #[schema(required = false)]
    dry_run: bool,
}

/// Number of deleted inlays and tags; of a dry run, of those that would be deleted.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reverted {
    /// Number of inlays.
    inlays: u64,
    /// Number of tags. A tag that has another inlay stays.
    tags: u64,
}

/// Delete what taps created
///
/// For a leaked key: sets `unlisted` to `refuse`, and deletes the inlays and the tags that taps at
/// this template created since `since`. An inlay that was moved to another tag or template since
/// then stays, with its tag. The deleted tags can be restored. A chip whose inlay is deleted is
/// listed as an unlisted chip again at its next tap, with its counter. If the call stops early, send
/// it again.
#[utoipa::path(
    post, path = "/url-templates/{id}/unlisted/revert", tag = "url templates",
    params(("id" = UrlTemplateId, Path)), request_body = RevertRequest,
    responses((status = OK, body = Reverted), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn revert_unlisted(
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
    Body(request): Body<RevertRequest>,
) -> Result<Json<Reverted>, ApiError> {
    let (storage, since) = (&service.storage, request.since);
    let missing = || ApiError::NotFound("URL template");
    storage.url_template(id).await?.ok_or_else(missing)?;
    let found = storage.made_by_taps(id, since).await?;
    if let Some(expected) = request.expected_count
        && expected != found.inlays
    {
        let found = found.inlays;
        return Err(ApiError::CountChanged { expected, found });
    }
    if request.dry_run {
        return Ok(Json(found.into()));
    }
    storage.asks(json!({"since": since, "inlays": found.inlays, "tags": found.tags}));
    let refuse = |before: &UrlTemplate| {
        let mut fields = before.fields.clone();
        fields.unlisted.mode = UnlistedMode::Refuse;
        Ok(fields)
    };
    let edited = storage.edit_url_template(id, Box::new(refuse)).await?;
    edited.ok_or_else(missing)?;
    let mut all = MadeByTaps::default();
    loop {
        let some = storage.delete_made_by_taps(id, since).await?;
        if some == MadeByTaps::default() {
            return Ok(Json(all.into()));
        }
        all.inlays += some.inlays;
        all.tags += some.tags;
    }
}

impl From<MadeByTaps> for Reverted {
    fn from(made: MadeByTaps) -> Self {
        Self {
            inlays: made.inlays,
            tags: made.tags,
        }
    }
}
