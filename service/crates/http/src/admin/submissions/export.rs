//! `GET /admin/v1/submissions/export`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;

use super::list::ListSubmissions;
use crate::admin::Asked;
use crate::admin::export::{self, AT_ONCE, ExportPosition, Format, cell, line, once, text_cell};
use crate::admin::extract::query::read;
use crate::error::{ApiError, Code, Common, Conflicting, Invalid};
use crate::schema::Binary;
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::SubmissionId;
use domain::submission::{Submission, SubmissionState};
use domain::tag::PropertyKey;
use domain::webhook::object;
use storage::{StorageError, SubmissionFilter};

/// Columns of an export without a selection. In a table, one column per field follows.
const COLUMNS: [&str; 10] = [
    "id",
    "at",
    "interaction_id",
    "tag_id",
    "slug",
    "tag_name",
    "experience_id",
    "experience_version",
    "tag_verified",
    "simulated",
];
/// Column of the consent's text in a table.
const CONSENT: &str = "consent";
const CONSENT_VERSION: &str = "consent_version";
/// Members that JSON contains as lists and objects.
const FIELDS: &str = "fields";
const NOT_SAVED: &str = "not_saved";
/// Prefix of the column name of a field.
const FIELD: &str = "field:";
/// Maximum number of different fields, because each is a column.
const FIELDS_MAX: usize = 900;

/// Format, columns and start of an export.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportSubmissions {
    /// `csv`, `jsonl` or `xlsx`. A workbook has at most 32,767 characters of a cell, and further
    /// sheets after 1,048,576 rows.
    #[param(inline, required = false)]
    format: Format,
    /// The columns, separated by commas, in this order: members of a submission in the list. In
    /// CSV and in a workbook, also `field:` with the key of a variable for the value of its field,
    /// `consent` for the text, and `consent_version` for its version. By default all.
    columns: Option<String>,
    /// Continues an interrupted export. Send the `Tapdesk-Cursor` of its answer, or append `.` and
    /// the `id` of the last row that arrived. CSV also needs the same columns.
    cursor: Option<String>,
}

impl ExportSubmissions {
    fn has(name: &str) -> bool {
        matches!(name, "format" | "columns" | "cursor")
    }
}

/// A column of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// A member of a submission.
    Member(&'static str),
    /// The value of a form field.
    Field(PropertyKey),
}

/// Export submissions
///
/// Exports all submissions that the filters of the list select. The newest is first, and newer
/// submissions than at the start of the export are left out. `Tapdesk-Cursor` contains this start,
/// and continues an interrupted export. If a spreadsheet would take a cell for a formula, the cell
/// begins with an apostrophe.
#[utoipa::path(
    get, path = "/submissions/export", tag = "submissions", params(ListSubmissions, ExportSubmissions),
    responses(
        (
            status = OK, content(
                (String = "application/jsonl; charset=utf-8"),
                (String = "text/csv; charset=utf-8"),
                (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ),
            headers(("Tapdesk-Cursor" = String, description = "From where the export is continued; not of a workbook"))
        ),
        Conflicting, Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    method: Method,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let options = read::<ExportSubmissions>(query, ExportSubmissions::has)?.0;
    let filter = read::<ListSubmissions>(query, |name| !ExportSubmissions::has(name))?.0;
    if filter.count {
        let why = "An export is not counted. The list is.";
        return Err(ApiError::Invalid(FieldError::of("count", why)));
    }
    let filter = filter.check()?;
    let format = options.format;
    format.check_cursor(options.cursor.as_deref())?;
    let place = options
        .cursor
        .as_deref()
        .map(ExportPosition::parse)
        .transpose()?;
    let (begins, place) = match place {
        Some(place) => (false, Some(place)),
        None => (true, newest(&service).await?),
    };
    let columns = match (options.columns.as_deref(), format) {
        (Some(asked), _) => columns(asked, format)?,
        (None, Format::Jsonl) => all(format, BTreeSet::new()),
        (None, Format::Csv | Format::Xlsx) if !begins => {
            let why = "columns are needed with a cursor: those of the file that is continued.";
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        }
        // HEAD requests skip the search for field columns, because they get no body.
        (None, Format::Csv | Format::Xlsx) if method == Method::HEAD => Vec::new(),
        (None, Format::Csv | Format::Xlsx) => {
            all(format, variables(&service, &filter, place).await?)
        }
    };
    let headers = format.file_headers("submissions");
    let file = File { format, columns };
    let head = if begins { file.head() } else { Vec::new() };
    let send = move |sender| send(service, filter, file, head, place, sender);
    let body = export::table_body(format, "Submissions", send);
    Ok((headers, format.cursor(place), body).into_response())
}

/// The position of the newest submission; `None` without submissions.
async fn newest(service: &Service) -> Result<Option<ExportPosition>, StorageError> {
    let all = SubmissionFilter {
        world: domain::world::World::Both,
        state: SubmissionState::All,
        ..SubmissionFilter::default()
    };
    let newest = service.storage.submissions(all, None, 1).await?;
    Ok(newest.first().map(|submission| ExportPosition {
        bound: submission.id.get(),
        last: None,
    }))
}

/// All columns of a format. `variables` are the variables of the fields.
fn all(format: Format, variables: BTreeSet<PropertyKey>) -> Vec<Column> {
    let own: &[&'static str] = match format {
        Format::Csv | Format::Xlsx => &[CONSENT, CONSENT_VERSION],
        Format::Jsonl => &[FIELDS, CONSENT, NOT_SAVED],
    };
    let members = COLUMNS.iter().chain(own).copied().map(Column::Member);
    members
        .chain(variables.into_iter().map(Column::Field))
        .collect()
}

fn columns(asked: &str, format: Format) -> Result<Vec<Column>, ApiError> {
    let known = all(format, BTreeSet::new());
    let mut columns = Vec::new();
    for name in asked.split(',') {
        let member = known
            .iter()
            .find(|column| matches!(column, Column::Member(known) if *known == name));
        let variable = name
            .strip_prefix(FIELD)
            .filter(|_| format != Format::Jsonl)
            .and_then(|key| PropertyKey::parse(key).ok());
        let column = member.cloned().or(variable.map(Column::Field));
        let Some(column) = column else {
            let why = format!("There is no column \"{name}\".");
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        };
        once(&columns, &column, name)?;
        columns.push(column);
    }
    Ok(columns)
}

/// The variables of all exported fields, which become columns. This is a first pass over the
/// submissions, also in short reads.
async fn variables(
    service: &Service,
    filter: &SubmissionFilter,
    place: Option<ExportPosition>,
) -> Result<BTreeSet<PropertyKey>, ApiError> {
    let mut variables = BTreeSet::new();
    let mut before =
        place.and_then(|place| SubmissionId::try_from(place.bound.saturating_add(1)).ok());
    while before.is_some() {
        let found = service
            .storage
            .submissions(filter.clone(), before, AT_ONCE)
            .await?;
        before = found.last().map(|last| last.id);
        for submission in found {
            let fields = submission.fields.into_iter();
            variables.extend(fields.map(|field| field.variable));
        }
        if variables.len() > FIELDS_MAX {
            let why = format!(
                "These submissions have more than {FIELDS_MAX} different fields, and a table has no room \
                 for more. Export those of one experience, or name the columns."
            );
            return Err(ApiError::conflict(Code::TooManyKeys, why));
        }
    }
    Ok(variables)
}

/// Formats submissions for the file.
struct File {
    format: Format,
    columns: Vec<Column>,
}

impl File {
    fn head(&self) -> Vec<u8> {
        let names = self.columns.iter().map(|column| match column {
            Column::Member(name) => Cow::Borrowed(*name),
            Column::Field(key) => Cow::Owned(format!("{FIELD}{key}")),
        });
        let names: Vec<_> = names.collect();
        self.format.head(names.iter().map(|name| &**name))
    }

    fn line(&self, submission: &Submission) -> Vec<u8> {
        let mut members = object(submission);
        match self.format {
            Format::Csv | Format::Xlsx => line(self.columns.iter().map(|column| match column {
                Column::Member(CONSENT) => cell(part(&members, "text")),
                Column::Member(CONSENT_VERSION) => cell(part(&members, "version")),
                Column::Member(name) => cell(members.get(*name)),
                Column::Field(key) => {
                    let mut fields = submission.fields.iter();
                    let field = fields.find(|field| field.variable == *key);
                    field.map_or(Cow::Borrowed(""), |field| text_cell(&field.value))
                }
            })),
            Format::Jsonl => {
                let mut row = Map::new();
                for column in &self.columns {
                    if let Column::Member(name) = column {
                        let value = members.remove(*name).unwrap_or_default();
                        row.insert((*name).to_owned(), value);
                    }
                }
                let mut text = Value::Object(row).to_string().into_bytes();
                text.push(b'\n');
                text
            }
        }
    }
}

/// A member of the consent.
fn part<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(CONSENT)?.get(name)
}

/// Sends the file. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(
    service: Arc<Service>,
    filter: SubmissionFilter,
    file: File,
    head: Vec<u8>,
    place: Option<ExportPosition>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let mut text = head;
    let before = place.map(|place| place.last.unwrap_or(place.bound.saturating_add(1)));
    let mut before = before.and_then(|before| SubmissionId::try_from(before).ok());
    loop {
        if !text.is_empty() && sender.send_data(text.into()).await.is_err() {
            return;
        }
        if before.is_none() {
            return;
        }
        let found = service
            .storage
            .submissions(filter.clone(), before, AT_ONCE)
            .await;
        let found = match found {
            Ok(found) => found,
            Err(error) => return sender.abort(error),
        };
        before = found.last().map(|last| last.id);
        text = found.iter().flat_map(|one| file.line(one)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_format() {
        let names = |asked: &str, format| columns(asked, format).ok().map(|columns| columns.len());
        assert_eq!(
            names("id,field:email,consent_version", Format::Csv),
            Some(3)
        );
        assert_eq!(names("id,fields,consent", Format::Jsonl), Some(3));
        for (asked, format) in [
            ("", Format::Csv),
            ("id,id", Format::Csv),
            ("fields", Format::Csv),
            ("field:", Format::Csv),
            ("field:email", Format::Jsonl),
            ("folded", Format::Jsonl),
        ] {
            assert_eq!(names(asked, format), None, "{asked}");
        }
    }
}
