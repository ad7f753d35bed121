//! Shared parts of exports: formats, and how an interrupted export continues.

mod table;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};

use axum::body::{Body, Bytes};
use axum::http::HeaderName;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use app::csv_file::BOM;
pub(super) use app::csv_file::{cell, line, text_cell};
use app::xlsx_file::XlsxFile;
use domain::field_error::FieldError;
pub(super) use table::TableOptions;

/// Number of rows per database read. Short reads do not delay checkpoints.
pub(super) const AT_ONCE: usize = 500;
/// Header with the cursor from which an interrupted export can continue.
const CURSOR: HeaderName = HeaderName::from_static("tapdesk-cursor");

/// File format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// CSV (RFC 4180), safe to open in a spreadsheet.
    #[default]
    Csv,
    /// JSON Lines: a JSON object on each line.
    Jsonl,
    /// A workbook of Excel with the cells of the CSV file, all as text.
    Xlsx,
}

impl Format {
    /// The media type of the file.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl; charset=utf-8",
            Self::Xlsx => XLSX,
        }
    }

    /// The headers of the file, which browsers save as `name` with the ending of its format.
    pub(super) fn file_headers(self, name: &str) -> [(HeaderName, String); 2] {
        let name = format!("attachment; filename=\"{name}.{}\"", self.ending());
        [
            (CONTENT_TYPE, self.media_type().to_owned()),
            (CONTENT_DISPOSITION, name),
        ]
    }

    /// The file name extension.
    const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Xlsx => "xlsx",
        }
    }

    /// The beginning of a file with these columns.
    pub(super) fn head<'a>(self, columns: impl Iterator<Item = &'a str>) -> Vec<u8> {
        match self {
            Self::Csv | Self::Xlsx => {
                let mut head = BOM.as_bytes().to_vec();
                head.extend(line(columns.map(Cow::Borrowed)));
                head
            }
            Self::Jsonl => Vec::new(),
        }
    }

    /// The header from which an interrupted export continues.
    pub(super) fn cursor(self, place: Option<ExportPosition>) -> Option<[(HeaderName, String); 1]> {
        let place = place.map_or_else(String::new, |place| place.bound.to_string());
        (self != Self::Xlsx).then_some([(CURSOR, place)])
    }

    /// Refuses a cursor for a file that cannot be continued.
    pub(super) fn check_cursor(self, cursor: Option<&str>) -> Result<(), ApiError> {
        if self == Self::Xlsx && cursor.is_some() {
            let why = "A workbook cannot be continued. Export it again, or as CSV.";
            return Err(ApiError::Invalid(FieldError::of("cursor", why)));
        }
        Ok(())
    }
}

/// The media type of a workbook of Excel.
pub(super) const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

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
pub(super) fn body<S, E>(send: impl FnOnce(Sender<Bytes, E>) -> S + Send + 'static) -> Body
where
    S: Future<Output = ()> + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    let begun = async move {
        let (sender, body) = Channel::<Bytes, E>::new(CHUNKS);
        tokio::spawn(send(sender));
        body.into_data_stream()
    };
    Body::from_stream(begun.flatten_stream())
}

/// Like [`body`], for the rows of a CSV file that `send` sends as whole rows. A workbook has the same
/// cells; it is sent when it is complete.
pub(super) fn table_body<S, E>(
    format: Format,
    sheet: &'static str,
    send: impl FnOnce(Sender<Bytes, E>) -> S + Send + 'static,
) -> Body
where
    S: Future<Output = ()> + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    if format != Format::Xlsx {
        return body(send);
    }
    body(move |mut sender: Sender<Bytes, io::Error>| async move {
        let (rows, mut pieces) = Channel::<Bytes, E>::new(CHUNKS);
        tokio::spawn(send(rows));
        let mut file = XlsxFile::new(sheet);
        while let Some(piece) = pieces.frame().await {
            let piece = match piece {
                Ok(piece) => piece.into_data().unwrap_or_default(),
                Err(error) => return sender.abort(io::Error::other(error)),
            };
            let add = move |mut file: XlsxFile| file.add(&piece).map(|()| file);
            file = match in_thread(file, add).await {
                Ok(file) => file,
                Err(error) => return sender.abort(error),
            };
        }
        let mut file = match in_thread(file, XlsxFile::finish).await {
            Ok(file) => file,
            Err(error) => return sender.abort(error),
        };
        loop {
            let read = in_thread(file, piece_of).await;
            let piece = match read {
                Ok((_, piece)) if piece.is_empty() => return,
                Ok((rest, piece)) => {
                    file = rest;
                    piece
                }
                Err(error) => return sender.abort(error),
            };
            if sender.send_data(piece.into()).await.is_err() {
                return;
            }
        }
    })
}

/// Does work with files in a thread, so that it blocks no other request.
async fn in_thread<T: Send + 'static, U: Send + 'static>(
    value: T,
    work: impl FnOnce(T) -> io::Result<U> + Send + 'static,
) -> io::Result<U> {
    let done = tokio::task::spawn_blocking(move || work(value)).await;
    done.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// The next piece of a file, empty at its end.
fn piece_of(mut file: File) -> io::Result<(File, Vec<u8>)> {
    let mut piece = vec![0; 64 * 1024];
    let read = file.read(&mut piece)?;
    piece.truncate(read);
    Ok((file, piece))
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
