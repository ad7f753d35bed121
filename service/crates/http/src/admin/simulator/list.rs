//! `GET /admin/v1/simulator/inlays`.

use axum::Json;

use super::view::VirtualInlayView;
use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::VirtualInlayId;

/// List virtual inlays
///
/// In the order of their creation.
#[utoipa::path(
    get, path = "/simulator/inlays", tag = "simulator", params(PageParams, Counted),
    responses((status = OK, body = Page<VirtualInlayView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<VirtualInlayId, Counted>,
) -> Result<Json<Page<VirtualInlayView>>, ApiError> {
    let storage = &service.storage;
    let found = storage
        .virtual_inlays(list.after, list.and_one_more())
        .await?;
    let count = counted(list.filter.count, storage.count_virtual_inlays()).await?;
    let items = found.into_iter().map(VirtualInlayView::from).collect();
    Ok(Json(
        list.page(items, |chip: &VirtualInlayView| chip.id)
            .with_count(count),
    ))
}
