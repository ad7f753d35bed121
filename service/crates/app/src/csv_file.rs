//! Writes CSV files that are safe to open in a spreadsheet.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};
use serde_json::Value;

use domain::tag::cell::encode;

/// The byte order mark, which tells spreadsheets that a file is UTF-8.
pub const BOM: &str = "\u{feff}";
/// Most rows are shorter, in bytes. The writer's own buffer has 8 KiB, for each row again.
const LINE_LENGTH: usize = 512;

/// Formats a value for a cell.
pub fn cell(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => text_cell(text),
        // The digits represent the whole value.
        Some(Value::Object(members)) => cell(members.get("hex")),
        Some(other) => other.to_string().into(),
    }
}

/// Formats a text for a cell. An empty text is an empty cell: nothing reads these files back.
pub fn text_cell(text: &str) -> Cow<'_, str> {
    encode(Some(text.into()).filter(|_| !text.is_empty()))
}

/// A CSV row with its line end (RFC 4180).
pub fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .buffer_capacity(LINE_LENGTH)
        .from_writer(Vec::with_capacity(LINE_LENGTH));
    // Writing to memory cannot fail, and the number of cells is constant.
    for cell in cells {
        let _ = writer.write_field(cell.as_bytes());
    }
    let _ = writer.write_record(None::<&[u8]>);
    writer.into_inner().unwrap_or_default()
}
