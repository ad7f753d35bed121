//! `POST /admin/v1/tags/import`.

mod answer;
mod row;
mod run;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::csv::{Column, Table};
use crate::http::admin::body::Csv;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, BadBody, Common, Written};
use crate::service::Service;
use crate::tag::TagColumn;
use answer::ImportResult;
use run::Import;

/// Most rows in one file.
const ROWS_MAX: usize = 1_000_000;

/// How a file is imported.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Check everything, and write nothing.
    dry_run: bool,
    /// What a bad row means for the others.
    #[param(inline)]
    on_error: OnError,
    /// What a row means whose slug a tag has.
    #[param(inline)]
    mode: Mode,
}

/// What a bad row means for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OnError {
    /// The good rows go in, 500 at a time.
    #[default]
    Skip,
    /// Nothing goes in. All rows go in at once, and taps wait as long as that takes.
    Abort,
}

/// What a row means whose slug a tag has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// It is refused.
    #[default]
    Insert,
    /// It changes that tag: a column that is in the file is set from its cell,
    /// an empty cell empties or removes; other columns stay as they are.
    Upsert,
}

/// Import tags
///
/// A CSV file: UTF-8, separated by commas or semicolons, with a header row. The
/// columns are `slug`, `name`, `title`, `description`, `language_code`,
/// `status`, `experience_id`, `verifier_enabled`, `updates_require_verified`,
/// `has_qr_code`, `track_location`, `location` and `widget_settings` (as JSON),
/// `attribute:KEY`, `data:KEY`, `variable:KEY`, in any order; and for a new
/// inlay on the tag `uid`, `technology`, `mirror` (`none` for no codes),
/// `mac_from`, `meta_key`, `file_key` and `master_key_id`. An empty cell is the
/// default, and for properties none. An apostrophe that export put before a
/// cell is taken away again. `name` is needed, with `mode=upsert` `slug`.
///
/// Results come while the work goes on, each on a line of its own.
#[utoipa::path(
    post, path = "/tags/import", tag = "tags", params(ImportQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = OK, body = ImportResult), BadBody, Written, Common)
)]
pub(crate) async fn import(
    State(service): State<Arc<Service>>,
    Query(query): Query<ImportQuery>,
    Csv(file): Csv,
) -> Result<Response, ApiError> {
    let table = Table::open(file.clone()).map_err(ApiError::Invalid)?;
    let required = match query.mode {
        Mode::Insert => TagColumn::Name,
        Mode::Upsert => TagColumn::Slug,
    };
    if !table.columns().contains(&Column::Tag(required.clone())) {
        let why = format!("The file needs a column \"{required}\".");
        return Err(ApiError::Invalid(why));
    }
    let rows = tokio::task::spawn_blocking(|| Table::open(file).map(Table::count));
    let rows = rows.await.map_err(|_| ApiError::Internal)?;
    let rows = rows.map_err(ApiError::Invalid)?;
    if rows > ROWS_MAX {
        let why = format!("A file has at most {ROWS_MAX} rows, this one has {rows}. Split it.");
        return Err(ApiError::Invalid(why));
    }
    let mut import = Import::new(service, table, rows, query);
    // The first piece comes before the answer: where it fails, the status says so.
    let first = import.next().await?;
    let (sender, body) = Channel::<Bytes>::new(4);
    tokio::spawn(import.send(first, sender));
    Ok(([(CONTENT_TYPE, "application/json")], Body::new(body)).into_response())
}
