//! What exports share: their formats, their cells, and where one goes on that was broken off.

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

use crate::caller;
use crate::field_error::FieldError;
use crate::http::error::ApiError;
use crate::storage::StorageError;
use crate::tag::cell::encode;

/// Rows read at once: a read is short, and holds up no checkpoint.
pub(super) const AT_ONCE: usize = 500;
/// From where an export goes on that was broken off.
pub(super) const CURSOR: HeaderName = HeaderName::from_static("tapdesk-cursor");

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// CSV (RFC 4180), safe to open in a spreadsheet.
    #[default]
    Csv,
    /// A JSON object in each line.
    Jsonl,
}

impl Format {
    /// The media type of a file.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl; charset=utf-8",
        }
    }

    /// The ending of a file's name.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    /// What a file begins with, with these columns.
    pub(super) fn head<'a>(self, columns: impl Iterator<Item = &'a str>) -> Vec<u8> {
        match self {
            // Spreadsheets know UTF-8 by the byte order mark.
            Self::Csv => {
                let mut head = "\u{feff}".as_bytes().to_vec();
                head.extend(line(columns.map(Cow::Borrowed)));
                head
            }
            Self::Jsonl => Vec::new(),
        }
    }
}

/// The columns that are asked for, of those that there are; `default` if none are.
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

/// Refuses a column that is there already.
pub(super) fn once<T: PartialEq>(columns: &[T], column: &T, name: &str) -> Result<(), ApiError> {
    if columns.contains(column) {
        let why = format!("The column \"{name}\" stands there twice.");
        return Err(ApiError::Invalid(FieldError::of("columns", why)));
    }
    Ok(())
}

/// Where an export is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The newest row that can be in it.
    pub(super) bound: i64,
    /// The last one that was written.
    pub(super) last: Option<i64>,
}

impl Place {
    /// Reads a cursor.
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

/// Chunks that wait until somebody takes them.
const CHUNKS: usize = 2;

/// A body that `send` makes, for the same caller, from when it is read on: the answer to HEAD has
/// the headers, and nothing is done for a body.
pub(super) fn body<S: Future<Output = ()> + Send + 'static>(
    send: impl FnOnce(Sender<Bytes, StorageError>) -> S + Send + 'static,
) -> Body {
    let begun = async move {
        let (sender, body) = Channel::<Bytes, StorageError>::new(CHUNKS);
        caller::spawn(send(sender));
        body.into_data_stream()
    };
    Body::from_stream(begun.flatten_stream())
}

/// A value in a cell.
pub(super) fn cell(value: Option<&Value>) -> Cow<'static, str> {
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
pub(super) fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing into memory does not fail, and the number of cells is always the same.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_carries_the_bound() {
        let place = |bound, last| Place { bound, last };
        assert_eq!(Place::parse("7").ok(), Some(place(7, None)));
        assert_eq!(Place::parse("7.3").ok(), Some(place(7, Some(3))));
        for text in ["", "0", "-1", "7.", ".3", "7.8", "7.3.1", "x"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
