//! Shared parts of exports: formats, cells, and how an interrupted export continues.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::http::HeaderName;
use csv::{Terminator, WriterBuilder};
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;
use domain::field_error::FieldError;
use domain::tag::cell::encode;
use storage::StorageError;

/// Number of rows per database read. Short reads do not delay checkpoints.
pub(super) const AT_ONCE: usize = 500;
/// Header with the cursor from which an interrupted export can continue.
pub(super) const CURSOR: HeaderName = HeaderName::from_static("tapdesk-cursor");

/// File format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// CSV (RFC 4180), safe to open in a spreadsheet.
    #[default]
    Csv,
    /// JSON Lines: a JSON object on each line.
    Jsonl,
}

impl Format {
    /// The media type of the file.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl; charset=utf-8",
        }
    }

    /// The file name extension.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    /// The beginning of a file with these columns.
    pub(super) fn head<'a>(self, columns: impl Iterator<Item = &'a str>) -> Vec<u8> {
        match self {
            // The byte order mark tells spreadsheets that the file is UTF-8.
            Self::Csv => {
                let mut head = "\u{feff}".as_bytes().to_vec();
                head.extend(line(columns.map(Cow::Borrowed)));
                head
            }
            Self::Jsonl => Vec::new(),
        }
    }
}

/// The columns that `asked` selects from `default` and `more`. Without `asked`, `default`.
pub(super) fn columns(
    asked: Option<&str>,
    default: &[&'static str],
    more: &[&'static str],
) -> Result<Vec<&'static str>, ApiError> {
    let Some(asked) = asked else {
        return Ok(default.to_vec());
    };
    let mut columns = Vec::new();
    for name in asked.split(',') {
        let mut known = default.iter().chain(more);
        let Some(column) = known.find(|known| **known == name) else {
            let why = format!("There is no column \"{name}\".");
            return Err(ApiError::Invalid(FieldError::of("columns", why)));
        };
        once(&columns, column, name)?;
        columns.push(*column);
    }
    Ok(columns)
}

/// Refuses a column that is selected twice.
pub(super) fn once<T: PartialEq>(columns: &[T], column: &T, name: &str) -> Result<(), ApiError> {
    if columns.contains(column) {
        let why = format!("The column \"{name}\" stands there twice.");
        return Err(ApiError::Invalid(FieldError::of("columns", why)));
    }
    Ok(())
}

/// The position of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExportPosition {
    /// The newest row that the export can contain.
    pub(super) bound: i64,
    /// The last row that was written.
    pub(super) last: Option<i64>,
}

impl ExportPosition {
    /// Parses the text of a `Tapdesk-Cursor`.
    pub(super) fn parse(text: &str) -> Result<Self, ApiError> {
        let (bound, last) = match text.split_once('.') {
            Some((bound, last)) => (bound, Some(last)),
            None => (text, None),
        };
        let refused = || {
            let why = "cursor is the Tapdesk-Cursor of an export, or that and . and the id of the last row.";
            ApiError::Invalid(FieldError::of("cursor", why))
        };
        let id = |text: &str| match text.parse() {
            Ok(id) if id > 0 => Ok(id),
            _ => Err(refused()),
        };
        let place = Self {
            bound: id(bound)?,
            last: last.map(id).transpose()?,
        };
        if place.last.is_some_and(|last| last > place.bound) {
            return Err(refused());
        }
        Ok(place)
    }
}

/// Number of chunks that are prepared ahead of the client.
const CHUNKS: usize = 2;

/// A body that `send` produces on behalf of the same caller, once somebody reads it. A HEAD request
/// gets the headers without this work.
pub(super) fn body<S: Future<Output = ()> + Send + 'static>(
    send: impl FnOnce(Sender<Bytes, StorageError>) -> S + Send + 'static,
) -> Body {
    let begun = async move {
        let (sender, body) = Channel::<Bytes, StorageError>::new(CHUNKS);
        tokio::spawn(send(sender));
        body.into_data_stream()
    };
    Body::from_stream(begun.flatten_stream())
}

/// Formats a value for a cell.
pub(super) fn cell(value: Option<&Value>) -> Cow<'static, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) if text.is_empty() => Cow::Borrowed(""),
        Some(Value::String(text)) => encode(Some(text.clone().into())),
        // The digits represent the whole value.
        Some(Value::Object(members)) => cell(members.get("hex")),
        Some(other) => other.to_string().into(),
    }
}

/// A CSV row with its line end (RFC 4180).
pub(super) fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and the number of cells is constant.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_carries_the_bound() {
        let place = |bound, last| ExportPosition { bound, last };
        assert_eq!(ExportPosition::parse("7").ok(), Some(place(7, None)));
        assert_eq!(ExportPosition::parse("7.3").ok(), Some(place(7, Some(3))));
        for text in ["", "0", "-1", "7.", ".3", "7.8", "7.3.1", "x"] {
            assert!(ExportPosition::parse(text).is_err(), "{text}");
        }
    }
}
