//! Spreadsheets in the OpenDocument format (`.ods`).

use std::io::Cursor;

use calamine::{Ods, OdsError, Reader as _};

use super::limits::Table;
use super::rows::Collector;
use super::{DAMAGED, PASSWORD, Workbook, cell, first_visible};
use crate::table::Format;

/// Reads the first visible sheet of a file that is within the limits. calamine does not say which
/// cells are merged, so `tables` does.
pub(super) fn read(file: &[u8], tables: &[Table]) -> Result<Workbook, String> {
    let mut book = Ods::new(Cursor::new(file)).map_err(|error| words(&error))?;
    let (sheet, notes) = first_visible(book.sheets_metadata())?;
    let table = tables.iter().rev().find(|table| table.name == sheet);
    let merged = table.map(|table| table.merged.clone()).unwrap_or_default();
    let without_value = table.map(|table| table.without_value.as_slice());
    let mut without_value = without_value.unwrap_or_default().iter().peekable();
    let range = book.worksheet_range(&sheet);
    let range = range.map_err(|error| words(&error))?;
    // The workbook has a copy of each cell.
    drop(book);
    let mut rows = Collector::new(merged);
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, cells) in (first_row..).zip(range.rows()) {
        // calamine leaves such formulas out, as empty cells.
        while let Some(formula) = without_value.next_if(|formula| formula.0 <= row) {
            rows.add(*formula, Err(super::NO_VALUE.to_owned()))?;
        }
        for (column, value) in (first_column..).zip(cells) {
            rows.add((row, column), cell::text(value))?;
        }
    }
    for formula in without_value {
        rows.add(*formula, Err(super::NO_VALUE.to_owned()))?;
    }
    Ok(Workbook {
        format: Format::Ods,
        rows: rows.finish(&sheet)?,
        notes,
    })
}

fn words(error: &OdsError) -> String {
    match error {
        OdsError::Password => PASSWORD,
        _ => DAMAGED,
    }
    .to_owned()
}
