//! `GET /admin/v1/sheets/{id}/report.pdf`.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use crate::schema::Binary;
use app::sheet_report::{self, SheetPhotos};
use domain::id::SheetId;

/// Get a test sheet as PDF
///
/// For people who hand over a delivery: the expected result, each row with its verdict, who
/// recorded it and by which reader, and who signed the sheet off. It contains the same rows as
/// `GET /admin/v1/sheets/{id}`, and their photos below the table, small and with their rows. A sheet
/// that is not signed off says so.
#[utoipa::path(
    get, path = "/sheets/{id}/report.pdf", tag = "sheets", params(("id" = SheetId, Path)),
    responses(
        (status = OK, content((inline(Binary) = "application/pdf"))),
        NotFound, Common
    )
)]
pub(crate) async fn report(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
) -> Result<Response, ApiError> {
    let missing = ApiError::NotFound("sheet");
    let sheet = service.storage.sheet(id).await?.ok_or(missing.clone())?;
    let rows = service.storage.sheet_rows(id).await?.ok_or(missing)?;
    let photos = SheetPhotos::read(&service.storage, id, &rows).await?;
    // A long sheet takes seconds to set.
    let set = tokio::task::spawn_blocking(move || sheet_report::pdf(&sheet, &rows, photos));
    let file = match set.await {
        Ok(Ok(file)) => file,
        Ok(Err(error)) => {
            tracing::error!(%error, sheet = id.get(), "a test sheet cannot be set as PDF");
            return Err(ApiError::Internal);
        }
        Err(_) => return Err(ApiError::Internal),
    };
    let headers = [
        (CONTENT_TYPE, "application/pdf".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"sheet-{id}.pdf\""),
        ),
    ];
    Ok((headers, file).into_response())
}
