//! `GET /admin/v1/submissions/export`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;

use super::list::ListSubmissions;
use crate::field_error::FieldError;
use crate::http::admin::export::{self, AT_ONCE, CURSOR, Format, Place, cell, line, once};
use crate::http::admin::query::read;
use crate::http::error::{ApiError, Code, Common, Conflicting, Invalid};
use crate::id::SubmissionId;
use crate::service::Service;
use crate::storage::{StorageError, SubmissionFilter};
use crate::submission::Submission;
use crate::tag::PropertyKey;
use crate::webhook::object;

/// What is exported if no columns are named; in CSV the fields follow, each in a column of its own.
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
/// What a consent is in CSV.
const CONSENT: &str = "consent";
const CONSENT_VERSION: &str = "consent_version";
/// What JSON has as lists and objects.
const FIELDS: &str = "fields";
/// What the column of a field begins with.
const FIELD: &str = "field:";
/// Most different fields; each is a column.
const FIELDS_MAX: usize = 900;

/// What is written, and from where on.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportSubmissions {
    /// `csv` or `jsonl`.
    #[param(inline, required = false)]
    format: Format,
    /// The columns, separated by commas, in this order: members of a submission as the list shows
    /// it. In CSV `field:` and a variable's key is what a field of it sent, `consent` the text, and
    /// `consent_version` its version. By default all.
    columns: Option<String>,
    /// Continues an export that was broken off: the `Tapdesk-Cursor` of its answer, or that and
    /// `.` and the `id` of the last row that arrived. In CSV it needs the columns of that export.
    cursor: Option<String>,
}

impl ExportSubmissions {
    fn has(name: &str) -> bool {
        matches!(name, "format" | "columns" | "cursor")
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// A member of a submission.
    Member(&'static str),
    /// What a field sent.
    Field(PropertyKey),
}

/// Export submissions
///
/// All submissions that the filters of the list select, the newest first, up to the newest at the
/// beginning of the export. `Tapdesk-Cursor` names that one; an answer that was broken off is
/// continued with it. A cell that a spreadsheet would take for a formula begins with an apostrophe.
#[utoipa::path(
    get, path = "/submissions/export", tag = "submissions", params(ListSubmissions, ExportSubmissions),
    responses(
        (
            status = OK, content(
                (String = "application/jsonl; charset=utf-8"),
                (String = "text/csv; charset=utf-8"),
            ),
            headers(("Tapdesk-Cursor" = String, description = "From where the export is continued"))
        ),
        Conflicting, Invalid, Common
    )
)]
pub(crate) async fn export(
    State(service): State<Arc<Service>>,
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
    let place = options.cursor.as_deref().map(Place::parse).transpose()?;
    let (begins, place) = match place {
        Some(place) => (false, Some(place)),
        None => (true, newest(&service).await?),
    };
    let columns = match (options.columns.as_deref(), format) {
        (Some(asked), _) => columns(asked, format)?,
        (None, Format::Jsonl) => all(format, BTreeSet::new()),
        (None, Format::Csv) if !begins => {
            let why = "columns are needed with a cursor: those of the file that is continued.";
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        }
        // Whoever asks for the headers alone gets no names of columns.
        (None, Format::Csv) if method == Method::HEAD => Vec::new(),
        (None, Format::Csv) => all(format, variables(&service, &filter, place).await?),
    };
    let ending = format.ending();
    let headers = [
        (CONTENT_TYPE, format.media_type().to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"submissions.{ending}\""),
        ),
        (
            CURSOR,
            place.map_or_else(String::new, |place| place.bound.to_string()),
        ),
    ];
    let file = File { format, columns };
    let head = if begins { file.head() } else { Vec::new() };
    let body = export::body(move |sender| send(service, filter, file, head, place, sender));
    Ok((headers, body).into_response())
}

/// The place of the newest submission that there is; `None` if there is none.
async fn newest(service: &Service) -> Result<Option<Place>, StorageError> {
    let all = SubmissionFilter {
        world: crate::world::World::Both,
        ..SubmissionFilter::default()
    };
    let newest = service.storage.submissions(all, None, 1).await?;
    Ok(newest.first().map(|submission| Place {
        bound: submission.id.0,
        last: None,
    }))
}

/// All columns of a format. `variables` are those of the fields.
fn all(format: Format, variables: BTreeSet<PropertyKey>) -> Vec<Column> {
    let own: &[&'static str] = match format {
        Format::Csv => &[CONSENT, CONSENT_VERSION],
        Format::Jsonl => &[FIELDS, CONSENT],
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
            .filter(|_| format == Format::Csv)
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

/// The variables of all fields that are exported, so that each has its column: a first look, in
/// short reads as well.
async fn variables(
    service: &Service,
    filter: &SubmissionFilter,
    place: Option<Place>,
) -> Result<BTreeSet<PropertyKey>, ApiError> {
    let mut variables = BTreeSet::new();
    let mut before = place.map(|place| SubmissionId(place.bound + 1));
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

/// How the file says what submissions are.
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
            Format::Csv => line(self.columns.iter().map(|column| match column {
                Column::Member(CONSENT) => cell(part(&members, "text")),
                Column::Member(CONSENT_VERSION) => cell(part(&members, "version")),
                Column::Member(name) => cell(members.get(*name)),
                Column::Field(key) => {
                    let mut fields = submission.fields.iter();
                    let field = fields.find(|field| field.variable == *key);
                    cell(
                        field
                            .map(|field| Value::from(field.value.as_str()))
                            .as_ref(),
                    )
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

/// A part of the consent.
fn part<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(CONSENT)?.get(name)
}

/// Sends the file. A failure ends the answer in its middle, which the caller sees; a caller who
/// goes away ends the work.
async fn send(
    service: Arc<Service>,
    filter: SubmissionFilter,
    file: File,
    head: Vec<u8>,
    place: Option<Place>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let mut text = head;
    let mut before = place.map(|place| SubmissionId(place.last.unwrap_or(place.bound + 1)));
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
