//! `GET /admin/v1/master-keys/{id}`.

use super::view::MasterKeyView;
use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::MasterKeyId;

/// Get a master key
#[utoipa::path(
    get, path = "/master-keys/{id}", tag = "master keys", params(("id" = MasterKeyId, Path)),
    responses((status = OK, body = MasterKeyView), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<MasterKeyId>,
) -> Result<Edited<MasterKeyView>, ApiError> {
    let key = service.storage.master_key(id).await?;
    let key = key.ok_or(ApiError::NotFound("master key"))?;
    Ok(Edited::shown_as(key, MasterKeyView::from))
}
