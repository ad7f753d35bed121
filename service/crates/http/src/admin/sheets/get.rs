//! `GET /admin/v1/sheets/{id}`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::edited::Edited;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::SheetId;
use domain::sheet::{Sheet, SheetRow};

/// A test sheet with its rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeSheet {
    #[serde(flatten)]
    sheet: Sheet,
    /// The result of each inlay, in the order in which they were read.
    rows: Vec<SheetRow>,
}

/// Get a test sheet with its rows
#[utoipa::path(
    get, path = "/sheets/{id}", tag = "sheets", params(("id" = SheetId, Path)),
    responses((status = OK, body = WholeSheet), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
) -> Result<Edited<WholeSheet>, ApiError> {
    let missing = ApiError::NotFound("sheet");
    let mut sheet = service.storage.sheet(id).await?.ok_or(missing.clone())?;
    let rows = service.storage.sheet_rows(id).await?.ok_or(missing)?;
    // A row may have been added between the two reads.
    sheet.row_count = rows.len() as u64;
    Ok(Edited::shown_as(sheet, |sheet| WholeSheet { sheet, rows }))
}
