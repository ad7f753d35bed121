//! Workbooks of Excel (`.xlsx`).

use std::io::Cursor;

use calamine::{DataRef, Reader as _, Xlsx, XlsxError};

use super::rows::{Area, Collector};
use super::{DAMAGED, PASSWORD, Workbook, cell, first_visible};
use crate::table::Format;

/// Reads the first visible sheet of a file that is within the limits.
pub(super) fn read(file: &[u8]) -> Result<Workbook, String> {
    let mut book = Xlsx::new(Cursor::new(file)).map_err(|error| words(&error))?;
    let (sheet, notes) = first_visible(book.sheets_metadata())?;
    let merged = book.merge_cells_by_sheet_name(&sheet);
    let merged = merged.map_err(|error| words(&error))?;
    let merged = merged.into_iter().map(|area| Area {
        first: area.start,
        last: area.end,
    });
    let mut rows = Collector::new(merged.collect());
    let cells = book.worksheet_cells_reader(&sheet);
    let mut cells = cells.map_err(|error| words(&error))?;
    // Cells arrive one by one, so the sheet itself takes no memory.
    while let Some(found) = cells
        .next_cell_with_formula_metadata()
        .map_err(|error| words(&error))?
    {
        let text = match found.value {
            DataRef::Empty if found.formula.is_some() => Err(super::NO_VALUE.to_owned()),
            ref value => cell::text(value),
        };
        rows.add(found.pos, text)?;
    }
    Ok(Workbook {
        format: Format::Xlsx,
        rows: rows.finish(&sheet)?,
        notes,
    })
}

fn words(error: &XlsxError) -> String {
    match error {
        XlsxError::Password => PASSWORD,
        _ => DAMAGED,
    }
    .to_owned()
}
