//! `GET /admin/v1/encoding-runs/{id}/export`.

use std::borrow::Cow;

use axum::response::Response;

use crate::admin::Asked;
use crate::admin::export::TableOptions;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid, NotFound};
use crate::schema::Binary;
use domain::id::EncodingRunId;
use domain::tag::cell::encode;
use encoding::run::{Run, RunRow};
use encoding::{shown_uid, word};
use inlay::Technology;
use inlay::technology::Mode;

/// Export an encoding run
///
/// A CSV file (RFC 4180) that is safe to open in a spreadsheet, or a workbook (`.xlsx`). It lists the
/// encoded chips, without keys.
#[utoipa::path(
    get, path = "/encoding-runs/{id}/export", tag = "encodings", params(("id" = EncodingRunId, Path), TableOptions),
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
    Id(id): Id<EncodingRunId>,
    Query(file): Query<TableOptions>,
) -> Result<Response, ApiError> {
    let missing = ApiError::NotFound("encoding run");
    let rows = service.storage.encoding_run_rows(id).await?;
    let rows = rows.ok_or(missing.clone())?;
    let run = service.storage.encoding_run(id).await?.ok_or(missing)?;
    let csv = write(&run, &rows, &service.settings().tag_url).map_err(|_| ApiError::Internal)?;
    Ok(file.answer("Encoding run", &format!("encoding-run-{id}"), csv))
}

fn write(run: &Run, rows: &[RunRow], tag_url: &str) -> Result<Vec<u8>, csv::Error> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    csv.write_record([
        "position",
        "tag_id",
        "slug",
        "url",
        "uid",
        "technology",
        "mode",
        "generation",
        "at",
        "counter",
        "state",
        "reason",
    ])?;
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    for row in rows {
        let slug = row.slug.as_deref().unwrap_or_default();
        // The URL of a template has parts that only the chip writes.
        let canonical = run.plan.url_template_id.is_none() && !slug.is_empty();
        let url = canonical.then(|| format!("{tag_url}/{slug}"));
        csv.write_record([
            &*number(row.position),
            &row.tag_id.map_or_else(String::new, |id| id.to_string()),
            &encode(Some(Cow::Borrowed(slug))),
            &encode(url.map(Cow::Owned)),
            &shown_uid(row.uid),
            row.technology.map_or("", Technology::as_str),
            row.mode.map_or("", Mode::as_str),
            &number(row.generation.map(u32::from)),
            &row.at.to_string(),
            &number(row.counter),
            &word(row.state),
            &row.reason.map_or_else(String::new, word),
        ])?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}
