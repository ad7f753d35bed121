//! `GET /admin/v1/sheets/{id}/export`.

use axum::response::Response;

use crate::admin::Asked;
use crate::admin::export::{TableOptions, text_cell};
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid, NotFound};
use crate::schema::Binary;
use domain::id::SheetId;
use domain::recorder::Recorder;
use domain::sheet::SheetRow;

/// Export a test sheet
///
/// A CSV file (RFC 4180) that is safe to open in a spreadsheet, or a workbook (`.xlsx`). `has_photo` is
/// `true` for rows whose photo is at `/admin/v1/sheets/{id}/rows/{position}/photo`.
#[utoipa::path(
    get, path = "/sheets/{id}/export", tag = "sheets", params(("id" = SheetId, Path), TableOptions),
    responses(
        (status = OK, content(
            (String = "text/csv; charset=utf-8"),
            (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
        NotFound, Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Id(id): Id<SheetId>,
    Query(file): Query<TableOptions>,
) -> Result<Response, ApiError> {
    let rows = service.storage.sheet_rows(id).await?;
    let rows = rows.ok_or(ApiError::NotFound("sheet"))?;
    let csv = write(&rows).map_err(|_| ApiError::Internal)?;
    Ok(file.answer("Test sheet", &format!("sheet-{id}"), csv))
}

fn write(rows: &[SheetRow]) -> Result<Vec<u8>, csv::Error> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    csv.write_record([
        "position",
        "at",
        "uid",
        "tag_id",
        "counter",
        "verdict",
        "reason",
        "reader",
        "by",
        "has_photo",
    ])?;
    for SheetRow {
        position,
        at,
        by,
        photo,
        fields,
    } in rows
    {
        csv.write_record([
            &position.to_string(),
            &at.to_string(),
            fields.uid.as_deref().unwrap_or_default(),
            &fields.tag_id.map_or_else(String::new, |id| id.to_string()),
            &fields
                .counter
                .map_or_else(String::new, |counter| counter.to_string()),
            &fields.verdict,
            &text_cell(&fields.reason),
            &text_cell(fields.reader.as_deref().unwrap_or_default()),
            &text_cell(by.as_ref().map_or("", Recorder::words)),
            &photo.is_some().to_string(),
        ])?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}
