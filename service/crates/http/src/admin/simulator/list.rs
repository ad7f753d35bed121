//! `GET /admin/v1/simulator/inlays`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::view::VirtualInlayView;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use app::service::Service;
use domain::id::VirtualInlayId;

/// List virtual inlays
///
/// In the order of their creation.
#[utoipa::path(
    get, path = "/simulator/inlays", tag = "simulator", params(PageParams, Counted),
    responses((status = OK, body = Page<VirtualInlayView>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
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
