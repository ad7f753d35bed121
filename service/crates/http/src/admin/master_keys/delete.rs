//! `DELETE /admin/v1/master-keys/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::edited::{IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written};
use domain::id::MasterKeyId;

/// Delete a master key
///
/// Fails while inlays use keys that are derived from it.
#[utoipa::path(
    delete, path = "/master-keys/{id}", tag = "master keys", params(("id" = MasterKeyId, Path)),
    responses((status = NO_CONTENT), NotFound, Conflicting, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<MasterKeyId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_master_key_if(id, expected).await;
    let deleted = unless_changed(deleted, super::current(&service, id)).await?;
    deleted.ok_or(ApiError::NotFound("master key"))?;
    Ok(StatusCode::NO_CONTENT)
}
