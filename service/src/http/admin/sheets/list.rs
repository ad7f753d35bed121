//! `GET /admin/v1/sheets`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::admin::page::{Cursor, Limit, Page};
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::SheetId;
use crate::service::Service;
use crate::sheet::Sheet;

/// Which page of the sheets.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SheetQuery {
    /// How many.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor<SheetId>>,
    /// Whether to count what is on all pages.
    #[serde(default)]
    count: bool,
}

/// List test sheets
///
/// The newest first, without their rows.
#[utoipa::path(
    get, path = "/sheets", tag = "sheets", params(SheetQuery),
    responses((status = OK, body = Page<Sheet>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Query(query): Query<SheetQuery>,
) -> Result<Json<Page<Sheet>>, ApiError> {
    let after = query.after.map(|Cursor(id)| id);
    let sheets = service
        .storage
        .sheets(after, query.limit.and_one_more())
        .await?;
    let count = if query.count {
        Some(service.storage.count_sheets().await?)
    } else {
        None
    };
    let page = Page::new(sheets, query.limit, |sheet| sheet.id);
    Ok(Json(page.with_count(count)))
}
