//! `GET /admin/v1/master-keys`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::MasterKeyView;
use crate::http::admin::page::{Cursor, Limit, Page};
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::MasterKeyId;
use crate::service::Service;

/// Which page of the master keys.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MasterKeyQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor<MasterKeyId>>,
    /// Whether to count what is on all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// List master keys
///
/// In the order in which they were created.
#[utoipa::path(
    get, path = "/master-keys", tag = "master keys", params(MasterKeyQuery),
    responses((status = OK, body = Page<MasterKeyView>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Query(query): Query<MasterKeyQuery>,
) -> Result<Json<Page<MasterKeyView>>, ApiError> {
    let after = query.after.map(|Cursor(id)| id);
    let storage = &service.storage;
    let found = storage
        .master_keys(after, query.limit.and_one_more())
        .await?;
    let count = if query.count {
        Some(storage.count_master_keys().await?)
    } else {
        None
    };
    let items = found.into_iter().map(MasterKeyView::from).collect();
    let page = Page::new(items, query.limit, |key: &MasterKeyView| key.id);
    Ok(Json(page.with_count(count)))
}
