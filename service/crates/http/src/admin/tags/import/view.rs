//! `POST /admin/v1/tags/import/table`.

use std::ops::RangeInclusive;

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::preset;
use super::no_table;
use crate::admin::extract::body::Csv;
use crate::admin::extract::query::Query;
use crate::body::Chunks;
use crate::error::{ApiError, BadBody, Common};
use domain::field_error::FieldError;
use domain::table::{Encoding, Sheet};

/// Maximum number of rows in an answer.
const SHOWN_MAX: usize = 1_000;

/// Number of rows that are shown by default: enough to recognise the content of a column.
const SAMPLE: usize = 3;

/// The part of a file to show.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TableQuery {
    /// The service that wrote the file, as for an import. By default `csv`.
    preset: Option<String>,
    /// Numbers of the rows to show, such as `3,7-12`; by default the first three rows. An answer
    /// contains at most 1,000 rows.
    rows: Option<String>,
}

/// A file as an import would read it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTable)]
pub(crate) struct TableView {
    /// The character encoding of the file.
    encoding: Encoding,
    /// The character between cells.
    #[schema(example = ";")]
    separator: String,
    /// Number of rows, without the header and empty rows.
    row_count: usize,
    /// The columns of the file, in their order.
    columns: Vec<ShownColumn>,
    /// The requested rows of the file.
    rows: Vec<ShownRow>,
}

/// A column of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTableColumn)]
struct ShownColumn {
    /// Heading of the column in the file.
    heading: String,
    /// The likely meaning: a column of an import. Null if there is none.
    column: Option<String>,
    /// Whether the meaning is a guess, because no public document of the service contains this
    /// heading.
    guessed: bool,
}

/// A row of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTableRow)]
struct ShownRow {
    /// Row number in a spreadsheet; the header is row 1.
    row: u32,
    /// The cells as they are in the file. There can be more or fewer cells than columns.
    cells: Vec<String>,
}

/// Read a table
///
/// Reads the file like `/tags/import`, and returns the likely meaning of its columns, so that a
/// person can choose the columns to import. Nothing is stored.
#[utoipa::path(
    post, path = "/tags/import/table", tag = "tags", params(TableQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = OK, body = TableView), BadBody, Common)
)]
pub(crate) async fn import_table(
    Query(query): Query<TableQuery>,
    Csv(file): Csv,
) -> Result<Json<TableView>, ApiError> {
    let invalid = |field, why| ApiError::Invalid(FieldError::of(field, why));
    let preset = query.preset.as_deref().unwrap_or("csv");
    let preset = preset::named(preset).map_err(|why| invalid("preset", why))?;
    let rows = query.rows.as_deref().map(ranges).transpose();
    let rows = rows.map_err(|why| invalid("rows", why))?;
    let view = tokio::task::spawn_blocking(move || view(file, preset, rows.as_deref()));
    let view = view.await.map_err(|_| ApiError::Internal)?;
    view.map(Json).map_err(no_table)
}

fn view(
    file: Chunks,
    preset: &preset::Preset,
    chosen: Option<&[RangeInclusive<u32>]>,
) -> Result<TableView, String> {
    let mut sheet = Sheet::open(file)?;
    let columns = sheet.header().iter().zip(preset.suggest(sheet.header()));
    let columns = columns.map(|(heading, found)| {
        let (column, guessed) = found.map_or((None, false), |(name, guess)| (Some(name), guess));
        ShownColumn {
            heading: heading.clone(),
            column,
            guessed,
        }
    });
    let columns = columns.collect();
    let (mut row_count, mut rows) = (0, Vec::new());
    for line in &mut sheet {
        row_count += 1;
        let is_shown = match chosen {
            Some(ranges) => ranges.iter().any(|range| range.contains(&line.number)),
            None => rows.len() < SAMPLE,
        };
        if is_shown && rows.len() < SHOWN_MAX {
            rows.push(ShownRow {
                row: line.number,
                cells: line.shown,
            });
        }
    }
    if row_count == 0 {
        return Err("The file has no rows below its header.".to_owned());
    }
    Ok(TableView {
        encoding: sheet.encoding(),
        separator: sheet.separator().into(),
        row_count,
        columns,
        rows,
    })
}

/// Parses `3,7-12`. The error is a sentence for people.
fn ranges(text: &str) -> Result<Vec<RangeInclusive<u32>>, String> {
    let ranges = text.split(',').map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse().ok()?..=to.parse().ok()?)
    });
    let ranges: Option<Vec<_>> = ranges.take(SHOWN_MAX + 1).collect();
    let few = ranges.filter(|ranges| ranges.len() <= SHOWN_MAX);
    few.ok_or_else(|| "rows are numbers and ranges, at most 1,000, as 3,7-12.".to_owned())
}
