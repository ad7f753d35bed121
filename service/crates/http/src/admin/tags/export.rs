//! `GET /admin/v1/tags/export`.

use axum::body::Bytes;
use axum::http::{HeaderName, Uri};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;

use super::attribute_filter::{AttributeParams, Attributes};
use super::filter::Filter;
use crate::admin::Asked;
use crate::admin::export::{self, Format, TableOptions};
use crate::admin::extract::query::read;
use crate::error::{ApiError, Common, Conflicting, Invalid};
use crate::schema::Binary;
use app::tag_table;
use app::tag_table::export::TagExport;
use app::xlsx_file::ROWS_MAX;
use domain::field_error::FieldError;
use domain::world::World;
use storage::StorageError;

/// Header with the number of tags at the start of the export.
const TOTAL: HeaderName = HeaderName::from_static("tapdesk-total");

/// Export tags
///
/// A CSV file or a workbook (`.xlsx`) with the columns of an import, the `url` of each tag, and one column for each
/// property key. An import of the file creates the same tags, also in another service: experiences
/// are there by name. `experience_id` is empty, unless several experiences have the name. `(none)` marks a property that a tag
/// does not have, and a single apostrophe a property with an empty value. Other cells without a
/// value are empty. If a spreadsheet would take a cell for a formula, or an import would take it
/// for a keyword, the cell begins with an apostrophe. `Tapdesk-Total` is the number of tags at the
/// start of the export. Simulated tags are never exported. Changes during the export may or may not
/// be included, but each tag is consistent.
#[utoipa::path(
    get, path = "/tags/export", tag = "tags", params(Filter, AttributeParams, TableOptions),
    responses(
        (
            status = OK,
            content(
                (String = "text/csv; charset=utf-8"),
                (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ),
            headers(("Tapdesk-Total" = u64, description = "How many tags there were when the export began"))
        ),
        Conflicting, Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Attributes(attributes): Attributes,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let format = read::<TableOptions>(query, TableOptions::has)?.0.format();
    let filter = read::<Filter>(query, |name| !TableOptions::has(name))?.0;
    if filter.simulated != World::Real {
        let why = "Simulated tags are not exported.";
        return Err(ApiError::Invalid(FieldError::of("simulated", why)));
    }
    let filter = filter.with(attributes).check()?;
    let file = tag_table::export::export(service, filter).await?;
    let total = file.total();
    if format == Format::Xlsx && total >= u64::from(ROWS_MAX) {
        let why = format!(
            "A sheet has at most {ROWS_MAX} rows, and an import reads one sheet. Export these {total} tags as CSV, or fewer of them."
        );
        return Err(ApiError::Invalid(FieldError::of(TableOptions::FORMAT, why)));
    }
    let body = export::table_body(format, "Tags", move |sender| send(file, sender));
    let headers = format.file_headers("tags");
    Ok((headers, [(TOTAL, total.to_string())], body).into_response())
}

/// Sends the file. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(mut file: TagExport, mut sender: Sender<Bytes, StorageError>) {
    loop {
        match file.next().await {
            Ok(Some(piece)) => {
                if sender.send_data(piece.into()).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => return sender.abort(error),
        }
    }
}
