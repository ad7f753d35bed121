//! `GET /admin/v1/interactions/export`.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, Uri};
use axum::response::{IntoResponse, Response};
use csv::{Terminator, WriterBuilder};
use http_body_util::channel::{Channel, Sender};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::list::ListInteractions;
use crate::caller;
use crate::field_error::FieldError;
use crate::http::admin::query::read;
use crate::http::error::{ApiError, Common, Invalid};
use crate::id::InteractionId;
use crate::interaction::{Interaction, InteractionView, TagName};
use crate::service::Service;
use crate::storage::{InteractionFilter, StorageError};
use crate::tag::cell::encode;
use crate::webhook::object;

/// Interactions read at once: a read is short, and holds up no checkpoint.
const AT_ONCE: usize = 500;
/// From where an export goes on that was broken off.
const CURSOR: HeaderName = HeaderName::from_static("tapdesk-cursor");

/// What is exported if no columns are named.
const COLUMNS: [&str; 20] = [
    "id",
    "at",
    "tag_id",
    "slug",
    "tag_name",
    "tag_verified",
    "reason",
    "counter",
    "last_counter",
    "missed_reads",
    "inlay_id",
    "tech",
    "experience_id",
    "experience_version",
    "country",
    "returning_month",
    "returning_day",
    "key_issued",
    "tamper",
    "simulated",
];
/// What is exported only if it is named.
const NAMED: [&str; 2] = ["uid", "file_data"];

/// How interactions are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// CSV (RFC 4180), safe to open in a spreadsheet.
    #[default]
    Csv,
    /// A JSON object in each line.
    Jsonl,
}

/// What is written, and from where on.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportOptions {
    /// `csv` or `jsonl`.
    #[param(inline, required = false)]
    format: Format,
    /// The columns, separated by commas: members of an interaction as the list shows it, in this
    /// order. By default all but `uid` and `file_data`.
    columns: Option<String>,
    /// Continues an export that was broken off: the `Tapdesk-Cursor` of its answer, or that and
    /// `.` and the `id` of the last row that arrived.
    cursor: Option<String>,
}

impl ExportOptions {
    fn has(name: &str) -> bool {
        matches!(name, "format" | "columns" | "cursor")
    }
}

/// Export interactions
///
/// All interactions that the filters of the list select, the newest first, up to the newest at the
/// beginning of the export: however many there are. `Tapdesk-Cursor` names that one; an answer that
/// was broken off is continued with it. Keys, their hashes and clients are in no export. A cell that
/// a spreadsheet would take for a formula begins with an apostrophe.
#[utoipa::path(
    get, path = "/interactions/export", tag = "interactions", params(ListInteractions, ExportOptions),
    responses(
        (
            status = OK, content(
                (String = "application/jsonl; charset=utf-8"),
                (String = "text/csv; charset=utf-8"),
            ),
            headers(("Tapdesk-Cursor" = String, description = "From where the export is continued"))
        ),
        Invalid, Common
    )
)]
pub(crate) async fn export(
    State(service): State<Arc<Service>>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let options = read::<ExportOptions>(query, ExportOptions::has)?.0;
    let filter = read::<ListInteractions>(query, |name| !ExportOptions::has(name))?.0;
    let columns = columns(options.columns.as_deref())?;
    let place = options.cursor.as_deref().map(Place::parse).transpose()?;
    let filter = InteractionFilter::from(filter);
    let (begins, place) = match place {
        Some(place) => (false, Some(place)),
        None => (true, Place::newest(&service, filter).await?),
    };
    let (content_type, name) = match options.format {
        Format::Csv => ("text/csv; charset=utf-8", "interactions.csv"),
        Format::Jsonl => ("application/jsonl; charset=utf-8", "interactions.jsonl"),
    };
    let headers = [
        (CONTENT_TYPE, content_type.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
        (
            CURSOR,
            place.map_or_else(String::new, |place| place.bound.to_string()),
        ),
    ];
    let file = File {
        format: options.format,
        columns,
    };
    let head = if begins { file.head() } else { Vec::new() };
    let (sender, body) = Channel::<Bytes, StorageError>::new(2);
    caller::spawn(send(service, filter, file, head, place, sender));
    Ok((headers, Body::new(body)).into_response())
}

fn columns(asked: Option<&str>) -> Result<Vec<&'static str>, ApiError> {
    let Some(asked) = asked else {
        return Ok(COLUMNS.to_vec());
    };
    let mut columns = Vec::new();
    for name in asked.split(',') {
        let mut known = COLUMNS.iter().chain(&NAMED);
        let Some(column) = known.find(|known| **known == name) else {
            let why = format!("There is no column \"{name}\".");
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        };
        if columns.contains(column) {
            let why = format!("The column \"{name}\" stands there twice.");
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        }
        columns.push(*column);
    }
    Ok(columns)
}

/// Where an export is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// The newest interaction that can be in it.
    bound: InteractionId,
    /// The last one that was written.
    last: Option<InteractionId>,
}

impl Place {
    fn parse(text: &str) -> Result<Self, ApiError> {
        let (bound, last) = match text.split_once('.') {
            Some((bound, last)) => (bound, Some(last)),
            None => (text, None),
        };
        let refused = || {
            let why = "cursor is the Tapdesk-Cursor of an export, or that and . and the id of the last row.";
            ApiError::Invalid(FieldError::of("cursor", why))
        };
        let bound: InteractionId = bound.parse().map_err(|_| refused())?;
        let last: Option<InteractionId> =
            last.map(str::parse).transpose().map_err(|_| refused())?;
        if last.is_some_and(|last| last > bound) {
            return Err(refused());
        }
        Ok(Self { bound, last })
    }

    /// At the newest interaction that there is; `None` if there is none.
    async fn newest(
        service: &Service,
        filter: InteractionFilter,
    ) -> Result<Option<Self>, StorageError> {
        let all = InteractionFilter {
            tag_id: filter.tag_id,
            no_tag: filter.no_tag,
            world: crate::world::World::Both,
            ..InteractionFilter::default()
        };
        let newest = service.storage.interactions(all, None, 1).await?;
        let first = newest.found.first().map(|(interaction, _)| interaction.id);
        Ok(first
            .or(newest.next)
            .map(|bound| Self { bound, last: None }))
    }
}

/// How the file says what interactions are.
struct File {
    format: Format,
    columns: Vec<&'static str>,
}

impl File {
    fn head(&self) -> Vec<u8> {
        match self.format {
            // Spreadsheets know UTF-8 by the byte order mark.
            Format::Csv => {
                let mut head = "\u{feff}".as_bytes().to_vec();
                let names = self.columns.iter().map(|name| Cow::Borrowed(*name));
                head.extend(line(names));
                head
            }
            Format::Jsonl => Vec::new(),
        }
    }

    fn line(&self, interaction: Interaction, tag: Option<TagName>) -> Vec<u8> {
        let mut members = object(&InteractionView::new(interaction, tag));
        match self.format {
            Format::Csv => line(self.columns.iter().map(|name| cell(members.get(*name)))),
            Format::Jsonl => {
                let mut row = Map::new();
                for name in &self.columns {
                    let value = members.remove(*name).unwrap_or_default();
                    row.insert((*name).to_owned(), value);
                }
                let mut text = Value::Object(row).to_string().into_bytes();
                text.push(b'\n');
                text
            }
        }
    }
}

fn cell(value: Option<&Value>) -> Cow<'static, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) if text.is_empty() => Cow::Borrowed(""),
        Some(Value::String(text)) => encode(Some(text.clone().into())),
        // The digits are all of it.
        Some(Value::Object(members)) => cell(members.get("hex")),
        Some(other) => other.to_string().into(),
    }
}

/// A row with its line end (RFC 4180).
fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing into memory does not fail, and the number of cells is always the same.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}

/// Sends the file. A failure ends the answer in its middle, which the caller sees; a caller who
/// goes away ends the work.
async fn send(
    service: Arc<Service>,
    filter: InteractionFilter,
    file: File,
    head: Vec<u8>,
    place: Option<Place>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let mut text = head;
    let Some(place) = place else {
        let _ = sender.send_data(text.into()).await;
        return;
    };
    let mut next = Some(place.last.unwrap_or(place.bound));
    while let Some(from) = next {
        let stretch = match service
            .storage
            .interactions(filter, Some(from), AT_ONCE)
            .await
        {
            Ok(stretch) => stretch,
            Err(error) => return sender.abort(error),
        };
        for (interaction, tag) in stretch.found {
            if place.last.is_none_or(|last| interaction.id < last) {
                text.extend(file.line(interaction, tag));
            }
        }
        next = stretch.next;
        let chunk = std::mem::take(&mut text);
        if !chunk.is_empty() && sender.send_data(chunk.into()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_carries_the_bound() {
        let place = |bound, last: Option<i64>| Place {
            bound: InteractionId(bound),
            last: last.map(InteractionId),
        };
        assert_eq!(Place::parse("7").ok(), Some(place(7, None)));
        assert_eq!(Place::parse("7.3").ok(), Some(place(7, Some(3))));
        for text in ["", "0", "-1", "7.", ".3", "7.8", "7.3.1", "x"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_personal_is_a_column_only_by_its_name() {
        assert!(COLUMNS.iter().all(|column| !NAMED.contains(column)));
        assert_eq!(columns(Some("uid,id")).ok(), Some(vec!["uid", "id"]));
        for text in ["", "id,id", "client", "hash", "id, at"] {
            assert!(columns(Some(text)).is_err(), "{text}");
        }
    }
}
