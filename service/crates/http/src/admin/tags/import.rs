//! `POST /admin/v1/tags/import`.

mod all_or_none;
mod answer;
mod experiences;
mod reading;
mod row;
mod run;
mod send;
mod view;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::csv::{Column, Layout, Mapped, Survey, Table};
use super::preset;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Csv;
use crate::admin::extract::query::{Query, read};
use crate::body::Chunks;
use crate::error::{ApiError, BadBody, Common, Written};
use answer::ImportResult;
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::scope::Scope;
use domain::table::counter::Digits;
use domain::tag::{AddVariables, TagColumn};
use experiences::Experiences;
use reading::Reading;
use row::Reader;
use run::Import;

pub(super) use experiences::names as experience_names;
pub(crate) use view::*;

/// Maximum number of rows in one file.
const ROWS_MAX: usize = 1_000_000;

/// The parameter that names columns. It can be repeated.
const MAP: &str = "map";

/// Options of an import.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Whether to check everything without writing.
    dry_run: bool,
    /// Effect of a refused row on the other rows.
    #[param(inline)]
    on_error: OnError,
    /// How to treat a row whose slug exists.
    #[param(inline)]
    mode: Mode,
    /// How to treat an experience that does not exist.
    #[param(inline)]
    unknown_experience: UnknownExperience,
    /// The service that wrote the file, as listed by `/tags/import/presets`. Its columns are then
    /// recognised.
    preset: Option<String>,
    /// With a preset: the URL template of all rows with a `uid`. It defines their technology.
    url_template_id: Option<UrlTemplateId>,
    /// With a preset: the master key of all rows with a `uid`, if the file contains no keys.
    master_key_id: Option<MasterKeyId>,
    /// Number format of counters. Counters with leading zeros or letters are hexadecimal, and plain
    /// digits in a column `last_counter` are decimal. For other columns this parameter is required.
    #[param(inline)]
    counter: Option<Digits>,
    /// The meaning of a column in the file: its heading, a colon, and one of the columns above,
    /// such as `Farbe:attribute:colour`; without a column, it is ignored. Can be repeated. Columns
    /// that are not named here are found by their heading, and ignored if it is unknown.
    map: Vec<String>,
    /// Whether tags that are assigned to an experience get the variables that its page writes, with
    /// empty values.
    #[param(value_type = bool, required = false)]
    add_variables: AddVariables,
    /// Number of the last row to skip, as if the rows up to it were not in the file.
    after_row: u32,
    /// Maximum number of rows to import. With `after_row`, a large file can be imported in parts.
    max_rows: Option<usize>,
}

impl<S: Send + Sync> FromRequestParts<S> for ImportQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let Query(mut asked) = read::<Self>(query, |name| name != MAP)?;
        let pairs = form_urlencoded::parse(query.as_bytes());
        let named = pairs.filter(|(name, _)| name == MAP);
        asked.map = named.map(|(_, text)| text.into_owned()).collect();
        Ok(asked)
    }
}

impl ImportQuery {
    /// The description of the import in the audit log.
    fn asked(&self, rows: usize) -> Value {
        let mut asked = json!({
            "rows": rows,
            "mode": if self.mode == Mode::Upsert { "upsert" } else { "insert" },
            "on_error": if self.on_error == OnError::Abort { "abort" } else { "skip" },
            "add_variables": self.add_variables,
        });
        if let Some(preset) = &self.preset {
            asked["preset"] = preset.as_str().into();
        }
        asked
    }
}

/// Effect of a refused row on the other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OnError {
    /// The valid rows are imported, a hundred at a time.
    #[default]
    Skip,
    /// Nothing is imported. If all rows are valid, they are imported a hundred at a time, so that
    /// taps continue. Once begun, this import finishes, even if the client disconnects or the
    /// service restarts.
    Abort,
}

/// How to treat a row whose slug exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// The row is refused.
    #[default]
    Insert,
    /// The row changes that tag. A text in a cell sets the value, and `(delete)` deletes it. Empty
    /// cells and missing columns leave it unchanged.
    Upsert,
}

/// How to treat an experience that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UnknownExperience {
    /// The row is refused.
    #[default]
    Refuse,
    /// The cell counts as empty: a new tag leads nowhere, and an existing tag keeps its experience.
    /// The row's `warning` says so.
    Ignore,
}

/// Chooses the mapping of the file's columns.
async fn layout(service: &Service, query: &ImportQuery) -> Result<Layout, ApiError> {
    let invalid = |field, why| ApiError::Invalid(FieldError::of(field, why));
    let map = query.map.iter().map(|text| Mapped::parse(text));
    let map = map
        .collect::<Result<Vec<_>, _>>()
        .map_err(|why| invalid(MAP, why))?;
    let mut layout = Layout {
        map,
        counter: query.counter,
        ..Layout::default()
    };
    let Some(name) = &query.preset else {
        let common = [
            ("url_template_id", query.url_template_id.is_some()),
            ("master_key_id", query.master_key_id.is_some()),
        ];
        return match common.into_iter().find(|(_, is_given)| *is_given) {
            Some((field, _)) => {
                let why = format!("{field} goes with a preset; otherwise it is a column.");
                Err(invalid(field, why))
            }
            None => Ok(layout),
        };
    };
    layout.preset = Some(preset::named(name).map_err(|why| invalid("preset", why))?);
    if let Some(id) = query.url_template_id {
        let template = service.storage.url_template(id).await?;
        let missing = || {
            let why = format!("There is no URL template {id}.");
            invalid("url_template_id", why)
        };
        let technology = template.ok_or_else(missing)?.fields.settings().technology;
        layout.of_inlays = vec![
            ("url_template_id", id.to_string()),
            ("technology", technology.as_str().to_owned()),
        ];
    }
    if let Some(id) = query.master_key_id {
        layout.of_inlays.push(("master_key_id", id.to_string()));
    }
    Ok(layout)
}

/// Reads a file to its end, then its header again. Runs in a thread, so that it blocks no other
/// work.
async fn opened(file: Chunks, layout: Layout, after_row: u32) -> Result<(Table, Survey), ApiError> {
    let both = tokio::task::spawn_blocking(move || -> Result<_, String> {
        let survey = Table::open(file.clone(), &layout)?.survey(after_row);
        Ok((Table::open(file, &layout)?, survey))
    });
    both.await
        .map_err(|_| ApiError::Internal)?
        .map_err(no_table)
}

/// Import tags
///
/// A CSV file with a header row. The separator is `,`, `;`, a tab or `|`: Tapdesk detects it from
/// the header, or from a line `sep=;` before it. The encoding is UTF-8, UTF-16 or Windows-1252,
/// which Tapdesk detects from the bytes. Columns can be in any order: `slug`, `name`, `title`,
/// `description`, `language_code`, `status`, `experience_id`, `verifier_enabled`,
/// `updates_require_verified`, `has_qr_code`, `track_location`, `location` and `widget_settings`
/// (as JSON), `experience` (its name), `attribute:KEY`, `data:KEY` and `variable:KEY`. Columns for
/// a new inlay on the tag are `uid`, `technology`, `mirror` (`none` for no codes), `mac_from`,
/// `meta_key`, `file_key` and `master_key_id`; they need the scope `keys`. `name` is required, with
/// `mode=upsert` `slug` instead.
///
/// The result contains the encoding, the separator and the ignored columns (`ignored_columns`);
/// `notes` contains further information for people. A row with more or fewer cells than the header
/// is refused. UIDs, keys, slugs and counters are also refused if a spreadsheet turned them into
/// numbers or dates. A slug that looks like a number or a date needs a leading apostrophe.
///
/// | A cell | A new tag | A tag that is changed |
/// |---|---|---|
/// | empty | has the default; the property exists with an empty value | stays unchanged |
/// | `(none)` | has the default, and no such property | stays unchanged |
/// | `(delete)` | has the default, and no such property | loses it: the property, the experience, the title, the description, the location or the widget settings |
/// | only `'` | has the empty text | gets the empty text |
/// | a text | has this text | gets this text |
///
/// `deleted` lists the deleted values of each row; with `dry_run`, those that would be deleted. If
/// a text equals one of these keywords, put an apostrophe before it, as exports do. An import
/// removes the apostrophe again.
///
/// Results arrive during the import, each on its own line.
#[utoipa::path(
    post, path = "/tags/import", tag = "tags", params(ImportQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = OK, body = ImportResult), BadBody, Written, Common)
)]
pub(crate) async fn import(
    Asked(service): Asked,
    requester: Requester,
    query: ImportQuery,
    Csv(file): Csv,
) -> Result<Response, ApiError> {
    let layout = layout(&service, &query).await?;
    let (table, survey) = opened(file, layout, query.after_row).await?;
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
    if survey.rows > ROWS_MAX {
        let rows = survey.rows;
        let why = format!("A file has at most {ROWS_MAX} rows, this one has {rows}. Split it.");
        return Err(no_table(why));
    }
    if let Some(why) = survey.unclear {
        return Err(ApiError::Invalid(FieldError::of("counter", why)));
    }
    let rows = survey.rows_after.min(query.max_rows.unwrap_or(ROWS_MAX));
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
    service.storage.asks(query.asked(rows));
    let columns = Arc::clone(table.columns());
    let reader = Reader::new(columns, experiences, query.add_variables.0);
    let part = table.part(query.after_row, rows);
    let reading = Reading::start(Arc::clone(&service), part, reader);
    let mut import = Import::new(service, reading, query.clone());
    let answer = ImportResult {
        rows,
        dry_run: query.dry_run,
        encoding: survey.encoding,
        separator: survey.separator.into(),
        ignored_columns: survey.ignored,
        notes: survey.notes,
        ..ImportResult::default()
    };
    // Import the first piece before the answer begins, so that its failure can set the status.
    let first = import.next().await?;
    let (sender, body) = Channel::<Bytes>::new(4);
    tokio::spawn(send::send(import, answer, first, sender));
    Ok(([(CONTENT_TYPE, "application/json")], Body::new(body)).into_response())
}

/// The error for an invalid file.
fn no_table(why: String) -> ApiError {
    ApiError::Invalid(FieldError::whole(why))
}
