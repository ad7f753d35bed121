//! `PATCH /admin/v1/master-keys/{id}`.

use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{MasterKeyView, name};
use crate::admin::Asked;
use crate::admin::extract::body::Patch;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, NotFound, Written};
use domain::id::MasterKeyId;

/// Changes to a master key.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MasterKeyPatch {
    /// New name of the master key.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
}

/// Rename a master key
///
/// The key and its derivation cannot change.
#[utoipa::path(
    patch, path = "/master-keys/{id}", tag = "master keys", params(("id" = MasterKeyId, Path)),
    request_body(content = MasterKeyPatch, content_type = "application/merge-patch+json"),
    responses((status = OK, body = MasterKeyView), NotFound, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    Id(id): Id<MasterKeyId>,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<MasterKeyView>, ApiError> {
    let patch: MasterKeyPatch = patch.read()?;
    let key = service
        .storage
        .rename_master_key_if(id, name(patch.name)?, expected)
        .await;
    let key = unless_changed(key, super::current(&service, id)).await?;
    let key = key.ok_or(ApiError::NotFound("master key"))?;
    Ok(Edited::shown_as(key, MasterKeyView::from))
}
