//! `POST /admin/v1/tags/import`.

mod all_or_none;
mod answer;
mod experiences;
mod reading;
mod row;
mod run;
mod send;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::csv::{Column, Table};
use super::preset;
use crate::caller;
use crate::field_error::FieldError;
use crate::http::admin::Requester;
use crate::http::admin::body::Csv;
use crate::http::admin::query::Query;
use crate::http::body::Chunks;
use crate::http::error::{ApiError, BadBody, Common, Written};
use crate::id::UrlTemplateId;
use crate::scope::Scope;
use crate::service::Service;
use crate::tag::TagColumn;
use answer::ImportResult;
use experiences::Experiences;
use reading::Reading;
use row::Reader;
use run::Import;

pub(super) use experiences::names as experience_names;

/// Most rows in one file.
const ROWS_MAX: usize = 1_000_000;

/// How a file is imported.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
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
    /// The service that the file is from, as `/tags/import/presets` lists them: its columns are
    /// translated.
    preset: Option<String>,
    /// With a preset: the URL template of all rows with a `uid`. It decides their technology.
    url_template_id: Option<UrlTemplateId>,
}

impl ImportQuery {
    /// What the audit log says of an import.
    fn asked(&self, rows: usize) -> Value {
        let mut asked = json!({
            "rows": rows,
            "mode": if self.mode == Mode::Upsert { "upsert" } else { "insert" },
            "on_error": if self.on_error == OnError::Abort { "abort" } else { "skip" },
        });
        if let Some(preset) = &self.preset {
            asked["preset"] = preset.as_str().into();
        }
        asked
    }
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
    /// the caller waits or the service is started again.
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

/// The file with our columns.
async fn translated(
    service: &Service,
    query: &ImportQuery,
    file: Chunks,
) -> Result<Chunks, ApiError> {
    let invalid = |field, why| ApiError::Invalid(FieldError::of(field, why));
    let Some(name) = &query.preset else {
        if query.url_template_id.is_none() {
            return Ok(file);
        }
        let why = "url_template_id goes with a preset; otherwise it is a column.";
        return Err(invalid("url_template_id", why.to_owned()));
    };
    let preset = preset::named(name).map_err(|why| invalid("preset", why))?;
    let mut of_inlays = Vec::new();
    if let Some(id) = query.url_template_id {
        let template = service.storage.url_template(id).await?;
        let missing = || {
            let why = format!("There is no URL template {id}.");
            invalid("url_template_id", why)
        };
        let technology = template.ok_or_else(missing)?.fields.settings().technology;
        of_inlays.push(("url_template_id", id.to_string()));
        of_inlays.push(("technology", technology.as_str().to_owned()));
    }
    let translate = move || preset.translate(file, &of_inlays);
    let file = tokio::task::spawn_blocking(translate).await;
    file.map_err(|_| ApiError::Internal)?.map_err(no_table)
}

/// Import tags
///
/// A CSV file: UTF-8, separated by commas or semicolons, with a header row. The
/// columns are `slug`, `name`, `title`, `description`, `language_code`,
/// `status`, `experience_id`, `verifier_enabled`, `updates_require_verified`,
/// `has_qr_code`, `track_location`, `location` and `widget_settings` (as JSON),
/// `experience` (its name), `attribute:KEY`, `data:KEY`, `variable:KEY`, in any
/// order; and for a new inlay on the tag `uid`, `technology`, `mirror` (`none`
/// for no codes), `mac_from`, `meta_key`, `file_key` and `master_key_id`, which need
/// the scope `keys`. `name` is needed, with `mode=upsert` `slug`.
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
    requester: Requester,
    Query(query): Query<ImportQuery>,
    Csv(file): Csv,
) -> Result<Response, ApiError> {
    let file = translated(&service, &query, file).await?;
    let table = Table::open(file.clone()).map_err(no_table)?;
    let required = match query.mode {
        Mode::Insert => TagColumn::Name,
        Mode::Upsert => TagColumn::Slug,
    };
    if !table.columns().contains(&Column::Tag(required.clone())) {
        let why = format!("The file needs a column \"{required}\".");
        return Err(no_table(why));
    }
    if table
        .columns()
        .iter()
        .any(|column| matches!(column, Column::Inlay(_)))
    {
        requester.needs(Scope::Keys)?;
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
    caller::asks(query.asked(rows));
    let reader = Reader::new(Arc::clone(table.columns()), experiences);
    let reading = Reading::start(Arc::clone(&service), table, reader);
    let mut import = Import::new(service, reading, query.clone());
    let answer = ImportResult {
        rows,
        dry_run: query.dry_run,
        ..ImportResult::default()
    };
    // The first piece comes before the answer: if it fails, the status says so.
    let first = import.next().await?;
    let (sender, body) = Channel::<Bytes>::new(4);
    caller::spawn(send::send(import, answer, first, sender));
    Ok(([(CONTENT_TYPE, "application/json")], Body::new(body)).into_response())
}

/// What is wrong with the file as a whole.
fn no_table(why: String) -> ApiError {
    ApiError::Invalid(FieldError::whole(why))
}
