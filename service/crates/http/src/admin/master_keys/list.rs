//! `GET /admin/v1/master-keys`.

use axum::Json;

use super::view::MasterKeyView;
use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::MasterKeyId;

/// List master keys
///
/// In the order of their creation.
#[utoipa::path(
    get, path = "/master-keys", tag = "master keys", params(PageParams, Counted),
    responses((status = OK, body = Page<MasterKeyView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<MasterKeyId, Counted>,
) -> Result<Json<Page<MasterKeyView>>, ApiError> {
    let storage = &service.storage;
    let found = storage.master_keys(list.after, list.and_one_more()).await?;
    let count = counted(list.filter.count, storage.count_master_keys()).await?;
    let items = found.into_iter().map(MasterKeyView::from).collect();
    Ok(Json(
        list.page(items, |key: &MasterKeyView| key.id)
            .with_count(count),
    ))
}
