//! Writes CSV files that are safe to open in a spreadsheet.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};
use serde_json::Value;

use domain::tag::cell::encode;

/// The byte order mark, which tells spreadsheets that a file is UTF-8.
pub const BOM: &str = "\u{feff}";

/// Formats a value for a cell.
pub fn cell(value: Option<&Value>) -> Cow<'static, str> {
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
pub fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and the number of cells is constant.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}
