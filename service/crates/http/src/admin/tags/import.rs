//! `POST /admin/v1/tags/import`.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Table;
use crate::admin::extract::query::{Query, read};
use crate::error::{ApiError, BadBody, Common, Written};
use crate::schema::Binary;
use app::tag_table::import::{ImportOptions, ImportResult, Mode, OnError, UnknownExperience, open};
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::scope::Scope;
use domain::table::counter::Digits;
use domain::tag::AddVariables;
use inlay::Technology;

/// The parameter that names columns. It can be repeated.
const MAP: &str = "map";

/// Number of pieces of the answer that are prepared ahead of the client.
const PIECES: usize = 4;

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
    /// Whether to create the groups in the column `group` that do not exist. A path ends with a
    /// product and its batch; folders are above them.
    create_groups: bool,
    /// The URL template of rows with a `uid` that contain neither a URL template nor `mirror`.
    url_template_id: Option<UrlTemplateId>,
    /// The master key of rows with a `uid` that contain neither `file_key` nor `master_key_id`.
    master_key_id: Option<MasterKeyId>,
    /// The chip of rows with a `uid` that do not name it, unless their URL template defines it. The
    /// default is that of the preset. If nothing says it for any row, the file is refused.
    #[param(inline)]
    technology: Option<Technology>,
    /// Whether to accept factory keys in rows with a `uid`. Codes with them prove nothing.
    allow_factory_keys: bool,
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

impl From<ImportQuery> for ImportOptions {
    fn from(query: ImportQuery) -> Self {
        Self {
            dry_run: query.dry_run,
            on_error: query.on_error,
            mode: query.mode,
            unknown_experience: query.unknown_experience,
            create_groups: query.create_groups,
            preset: query.preset,
            url_template_id: query.url_template_id,
            master_key_id: query.master_key_id,
            technology: query.technology,
            allow_factory_keys: query.allow_factory_keys,
            counter: query.counter,
            map: query.map,
            add_variables: query.add_variables.0,
            after_row: query.after_row,
            max_rows: query.max_rows,
        }
    }
}

/// Import tags
///
/// A spreadsheet (`.xlsx`, `.ods`) or a CSV file with a header row. The bytes of the file decide its
/// kind, and `Content-Type` is a hint. The first visible sheet of a workbook is read: values of
/// formulas, and dates as `2023-11-04`. The separator of a CSV file is `,`, `;`, a tab or `|`:
/// Tapdesk detects it from the header, or from a line `sep=;` before it. The encoding is UTF-8,
/// UTF-16 or Windows-1252, which Tapdesk detects from the bytes. Columns can be in any order: `slug`, `name`, `title`,
/// `description`, `language_code`, `status`, `experience_id`, `verifier_enabled`,
/// `updates_require_verified`, `has_qr_code`, `track_location`, `location` and `widget_settings`
/// (as JSON), `experience` (its name), `group_id`, `group` (its path, such as
/// `Wines / Grand Cru 2021 / L03`), `attribute:KEY`, `data:KEY` and `variable:KEY`. Columns for
/// a new inlay on the tag are `uid`, `technology`, `mirror` (`none` for no codes), `mac_from`,
/// `meta_key`, `file_key`, `key_0`, `key_3`, `key_4` and `master_key_id`; they need the scope
/// `keys`. `name` is required, with `mode=upsert` `slug` instead. `technology` can also be the
/// product name of a chip. An inlay that is already on the tag of its row stays unchanged.
///
/// An experience is found by its name, so that an export of another service can be imported. If
/// `experience_id` names another experience than `experience`, the name counts, and `warning` says
/// so. A name of several experiences needs the id.
///
/// The result contains the kind of the file, its encoding, its separator and the ignored columns
/// (`ignored_columns`); `notes` contains further information for people. A row with more or fewer
/// cells than the header is refused, and so is a row with merged cells, with an error, or with a
/// formula that has no value. UIDs, keys, slugs and counters are also refused if a spreadsheet turned them into
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
    request_body(content(
        (String = "text/csv"),
        (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (inline(Binary) = "application/vnd.oasis.opendocument.spreadsheet")
    )),
    responses((status = OK, body = ImportResult), BadBody, Written, Common)
)]
pub(crate) async fn import(
    Asked(service): Asked,
    requester: Requester,
    query: ImportQuery,
    Table(file): Table,
) -> Result<Response, ApiError> {
    let table = open(service, query.into(), file).await?;
    if table.has_inlays() {
        requester.needs(Scope::Keys)?;
    }
    // The first rows are imported before the answer begins, so that their failure can set the
    // status.
    let import = table.begin().await?;
    let (sender, pieces) = mpsc::channel(PIECES);
    tokio::spawn(import.send(sender));
    let pieces = stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    let body = Body::from_stream(pieces);
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}
