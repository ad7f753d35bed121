//! Workbooks of Excel (`.xlsx`).

use std::collections::HashMap;
use std::io::Cursor;
use std::iter::Peekable;
use std::vec::IntoIter;

use calamine::{DataRef, DataType as _, Reader as _, Xlsx, XlsxError};

use super::padded::Padded;
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
    let mut padding = Padding::read(&mut book, &sheet)?;
    let cells = book.worksheet_cells_reader(&sheet);
    let mut cells = cells.map_err(|error| words(&error))?;
    // Cells arrive one by one, so the sheet itself takes no memory.
    while let Some(found) = cells
        .next_cell_with_formula_metadata()
        .map_err(|error| words(&error))?
    {
        let text = match found.value {
            DataRef::Empty if found.formula.is_some() => Err(super::NO_VALUE.to_owned()),
            ref value => match padding.text(found.pos, value) {
                Some(text) => Ok(Some(text.into())),
                None => cell::text(value),
            },
        };
        rows.add(found.pos, text)?;
    }
    Ok(Workbook {
        format: Format::Xlsx,
        rows: rows.finish(&sheet)?,
        notes,
    })
}

/// Most cells with a padded format.
const PADDED_MAX: usize = 4_000_000;

/// The cells of a sheet whose numbers are shown with more characters than their values have.
struct Padding {
    /// The formats of the styles that have one.
    formats: HashMap<usize, Padded>,
    /// The cells and their styles, in the order of the sheet.
    cells: Peekable<IntoIter<((u32, u32), usize)>>,
}

impl Padding {
    /// Reads the styles of the cells in a pass of its own, if any style is padded: the reader of
    /// values does not say the style.
    fn read(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> Result<Self, String> {
        let cells = book.worksheet_cells_reader(sheet);
        let mut cells = cells.map_err(|error| words(&error))?;
        let styles = cells.styles().iter().enumerate();
        let formats: HashMap<_, _> = styles
            .filter_map(|(id, style)| {
                let format = style.number_format.as_ref()?;
                Some((id, Padded::parse(&format.format_code)?))
            })
            .collect();
        let mut padded = Vec::new();
        if !formats.is_empty() {
            while let Some((row, column, style)) =
                cells.next_style_id().map_err(|error| words(&error))?
            {
                if !formats.contains_key(&style) {
                    continue;
                }
                if padded.len() == PADDED_MAX {
                    return Err(TOO_MANY_PADDED.to_owned());
                }
                padded.push(((row, column), style));
            }
        }
        Ok(Self {
            formats,
            cells: padded.into_iter().peekable(),
        })
    }

    /// The shown text of the next cell, if its format is padded.
    fn text(&mut self, at: (u32, u32), value: &DataRef<'_>) -> Option<String> {
        let (_, style) = self.cells.next_if(|(place, _)| *place == at)?;
        self.formats.get(&style)?.text(value.get_float()?)
    }
}

const TOO_MANY_PADDED: &str = "The sheet has more than 4,000,000 numbers with leading zeros by their format. Format them as text, or split the table.";

fn words(error: &XlsxError) -> String {
    match error {
        XlsxError::Password => PASSWORD,
        _ => DAMAGED,
    }
    .to_owned()
}
