//! `GET /admin/v1/url-templates`.

use axum::Json;

use super::view::UrlTemplateView;
use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::UrlTemplateId;

/// List URL templates
///
/// In the order of their creation.
#[utoipa::path(
    get, path = "/url-templates", tag = "url templates", params(PageParams, Counted),
    responses((status = OK, body = Page<UrlTemplateView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<UrlTemplateId, Counted>,
) -> Result<Json<Page<UrlTemplateView>>, ApiError> {
    let storage = &service.storage;
    let found = storage.url_templates(list.after, list.and_one_more());
    let items = found.await?.into_iter().map(UrlTemplateView::from);
    let items = items.collect();
    let count = counted(list.filter.count, storage.count_url_templates()).await?;
    let page = list.page(items, |template: &UrlTemplateView| template.id);
    Ok(Json(page.with_count(count)))
}
