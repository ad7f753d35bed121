//! `GET /admin/v1/inlays`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::InlayView;
use crate::http::admin::page::{List, Page, PageParams, counted};
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::{InlayId, MasterKeyId, TagId, UrlTemplateId};
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::InlayFilter;

/// Which inlays, and which page of them.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InlayQuery {
    /// Only those of this tag.
    tag_id: Option<TagId>,
    /// Only the one with this UID.
    uid: Option<Uid>,
    /// Only those with keys from this master key.
    master_key_id: Option<MasterKeyId>,
    /// Only those with this URL template.
    url_template_id: Option<UrlTemplateId>,
    /// `true`: only those that are bound to no tag. `false`: only the others.
    unbound: Option<bool>,
    /// `true`: only simulated ones. `false`: only real ones.
    simulated: Option<bool>,
    /// `true`: only blocked ones. `false`: only the others.
    blocked: Option<bool>,
    /// Whether to count what is on all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// List inlays
///
/// In the order in which they were created.
#[utoipa::path(
    get, path = "/inlays", tag = "inlays", params(InlayQuery, PageParams),
    responses((status = OK, body = Page<InlayView>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    list: List<InlayId, InlayQuery>,
) -> Result<Json<Page<InlayView>>, ApiError> {
    let query = &list.filter;
    let filter = InlayFilter {
        tag_id: query.tag_id,
        uid: query.uid,
        master_key_id: query.master_key_id,
        url_template_id: query.url_template_id,
        unbound: query.unbound,
        simulated: query.simulated,
        blocked: query.blocked,
    };
    let storage = &service.storage;
    let found = storage.inlays(filter, list.after, list.and_one_more());
    let items = found.await?.into_iter().map(InlayView::from).collect();
    let count = counted(query.count, storage.count_inlays(filter)).await?;
    let page = list.page(items, InlayView::id);
    Ok(Json(page.with_count(count)))
}
