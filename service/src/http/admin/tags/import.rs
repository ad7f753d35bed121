//! `POST /admin/v1/tags/import`.

mod all_or_none;
mod answer;
mod experiences;
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
use crate::field_error::FieldError;
use crate::http::admin::body::Csv;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, BadBody, Common, Written};
use crate::service::Service;
use crate::tag::TagColumn;
use answer::ImportResult;
use experiences::Experiences;
use run::Import;

pub(super) use experiences::names as experience_names;

/// Most rows in one file.
const ROWS_MAX: usize = 1_000_000;

/// How a file is imported.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Check everything, and write nothing.
    dry_run: bool,
    /// What happens to the other rows if one is refused.
    #[param(inline)]
    on_error: OnError,
    /// How to treat a row whose slug exists.
    #[param(inline)]
    mode: Mode,
    /// How to treat an experience that does not exist.
    #[param(inline)]
    unknown_experience: UnknownExperience,
}

/// What happens to the other rows if one is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OnError {
    /// The good rows go in, a hundred at a time.
    #[default]
    Skip,
    /// Nothing goes in. Where all rows are good they go in a hundred at a time, so
    /// that taps go on meanwhile; once that has begun it comes to its end, whether
    /// the caller waits or the service is started anew.
    Abort,
}

/// How to treat a row whose slug exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// It is refused.
    #[default]
    Insert,
    /// It changes that tag: a text in a cell is set, `(delete)` deletes, and what
    /// has an empty cell or no column stays as it is.
    Upsert,
}

/// How to treat an experience that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UnknownExperience {
    /// The row is refused.
    #[default]
    Refuse,
    /// Its cell counts as empty: a new tag leads nowhere, another tag if it
    /// did before. The row's `warning` says so.
    Ignore,
}

/// Import tags
///
/// A CSV file: UTF-8, separated by commas or semicolons, with a header row. The
/// columns are `slug`, `name`, `title`, `description`, `language_code`,
/// `status`, `experience_id`, `verifier_enabled`, `updates_require_verified`,
/// `has_qr_code`, `track_location`, `location` and `widget_settings` (as JSON),
/// `experience` (its name), `attribute:KEY`, `data:KEY`, `variable:KEY`, in any
/// order; and for a new inlay on the tag `uid`, `technology`, `mirror` (`none`
/// for no codes), `mac_from`, `meta_key`, `file_key` and `master_key_id`. `name`
/// is needed, with `mode=upsert` `slug`.
///
/// | A cell | A new tag | A tag that is changed |
/// |---|---|---|
/// | empty | has the default; the property is there, and empty | stays as it is |
/// | `(none)` | has the default, and no such property | stays as it is |
/// | `(delete)` | has the default, and no such property | loses it: the property, the experience, the title, the description, the location or the widget settings |
/// | `'` alone | has the empty text | has the empty text |
/// | a text | has it | has it |
///
/// `deleted` names, for each row, what is deleted; with `dry_run`, what would
/// be. A text that is one of these words itself has an apostrophe in front, as
/// export writes it; one that export put there is taken away again.
///
/// Results arrive during the import, each on its own line.
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
    let table = Table::open(file.clone()).map_err(no_table)?;
    let required = match query.mode {
        Mode::Insert => TagColumn::Name,
        Mode::Upsert => TagColumn::Slug,
    };
    if !table.columns().contains(&Column::Tag(required.clone())) {
        let why = format!("The file needs a column \"{required}\".");
        return Err(no_table(why));
    }
    let rows = tokio::task::spawn_blocking(|| Table::open(file).map(Table::count));
    let rows = rows.await.map_err(|_| ApiError::Internal)?;
    let rows = rows.map_err(no_table)?;
    if rows > ROWS_MAX {
        let why = format!("A file has at most {ROWS_MAX} rows, this one has {rows}. Split it.");
        return Err(no_table(why));
    }
    let about_experiences = |column: &Column| {
        matches!(
            column,
            Column::Experience | Column::Tag(TagColumn::ExperienceId)
        )
    };
    let experiences = if table.columns().iter().any(about_experiences) {
        Some(Experiences::load(&service, query.unknown_experience).await?)
    } else {
        None
    };
    let mut import = Import::new(service, table, rows, experiences, query);
    // The first piece comes before the answer: if it fails, the status says so.
    let first = import.next().await?;
    let (sender, body) = Channel::<Bytes>::new(4);
    tokio::spawn(import.send(first, sender));
    Ok(([(CONTENT_TYPE, "application/json")], Body::new(body)).into_response())
}

/// What is wrong with the file as a whole.
fn no_table(why: String) -> ApiError {
    ApiError::Invalid(FieldError::whole(why))
}
