//! `POST /admin/v1/sheets/{id}/rows`.

use axum::Json;
use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use domain::id::SheetId;
use domain::sheet::{RowFields, SheetRow};

/// Add a row to a test sheet
///
/// Tapdesk answers only after the row is on disk. A UID can have several rows. The verdict is
/// stored as sent.
#[utoipa::path(
    post, path = "/sheets/{id}/rows", tag = "sheets", params(("id" = SheetId, Path)),
    request_body = RowFields,
    responses((status = CREATED, body = SheetRow), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn append(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
    Body(row): Body<RowFields>,
) -> Result<(StatusCode, Json<SheetRow>), ApiError> {
    let row = row.validated().map_err(ApiError::Invalid)?;
    let row = service.storage.append_sheet_row(id, row).await?;
    let row = row.ok_or(ApiError::NotFound("sheet"))?;
    Ok((StatusCode::CREATED, Json(row)))
}
