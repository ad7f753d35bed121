//! `POST /admin/v1/tags/import/table`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::extract::body::Table;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, BadBody, Common};
use crate::schema::Binary;
use app::tag_table::{TableView, preset, view};
use domain::field_error::FieldError;

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

/// Read a table
///
/// Reads the file like `/tags/import`, and returns the likely meaning of its columns, so that a
/// person can choose the columns to import. Nothing is stored.
#[utoipa::path(
    post, path = "/tags/import/table", tag = "tags", params(TableQuery),
    request_body(content(
        (String = "text/csv"),
        (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (inline(Binary) = "application/vnd.oasis.opendocument.spreadsheet")
    )),
    responses((status = OK, body = TableView), BadBody, Common)
)]
pub(crate) async fn import_table(
    Query(query): Query<TableQuery>,
    Table(file): Table,
) -> Result<Json<TableView>, ApiError> {
    let invalid = |field, why| ApiError::Invalid(FieldError::of(field, why));
    let preset = query.preset.as_deref().unwrap_or("csv");
    let preset = preset::named(preset).map_err(|why| invalid("preset", why))?;
    let rows = query.rows.as_deref().map(view::ranges).transpose();
    let rows = rows.map_err(|why| invalid("rows", why))?;
    let view = tokio::task::spawn_blocking(move || view::view(file, preset, rows.as_deref()));
    let view = view.await.map_err(|_| ApiError::Internal)?;
    let no_table = |why| ApiError::Invalid(FieldError::whole(why));
    view.map(Json).map_err(no_table)
}
