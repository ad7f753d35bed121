//! `GET /admin/v1/sheets`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::SheetId;
use domain::sheet::Sheet;

/// List test sheets
///
/// The newest first, without their rows.
#[utoipa::path(
    get, path = "/sheets", tag = "sheets", params(PageParams, Counted),
    responses((status = OK, body = Page<Sheet>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<SheetId, Counted>,
) -> Result<Json<Page<Sheet>>, ApiError> {
    let storage = &service.storage;
    let found = storage.sheets(list.after, list.and_one_more()).await?;
    let count = counted(list.filter.count, storage.count_sheets()).await?;
    Ok(Json(
        list.page(found, |sheet: &Sheet| sheet.id).with_count(count),
    ))
}
