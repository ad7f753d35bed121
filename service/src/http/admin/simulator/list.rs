//! `GET /admin/v1/simulator/inlays`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::VirtualInlayView;
use crate::http::admin::page::{Cursor, Limit, Page};
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::VirtualInlayId;
use crate::service::Service;

/// Which page of the virtual inlays.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VirtualInlayQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor<VirtualInlayId>>,
    /// Whether to count what is on all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// List virtual inlays
///
/// In the order in which they were created.
#[utoipa::path(
    get, path = "/simulator/inlays", tag = "simulator", params(VirtualInlayQuery),
    responses((status = OK, body = Page<VirtualInlayView>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Query(query): Query<VirtualInlayQuery>,
) -> Result<Json<Page<VirtualInlayView>>, ApiError> {
    let after = query.after.map(|Cursor(id)| id);
    let storage = &service.storage;
    let found = storage
        .virtual_inlays(after, query.limit.and_one_more())
        .await?;
    let count = if query.count {
        Some(storage.count_virtual_inlays().await?)
    } else {
        None
    };
    let items = found.into_iter().map(VirtualInlayView::from).collect();
    let page = Page::new(items, query.limit, |chip: &VirtualInlayView| chip.id);
    Ok(Json(page.with_count(count)))
}
