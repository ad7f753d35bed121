//! The rows of a sheet as text: one piece of memory, of the size that a CSV file may have.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::{COLUMNS_MAX, Line, Problem};

/// Most bytes of a sheet's text: as many as a CSV file may have.
const TEXT_MAX: usize = 128 * 1024 * 1024;

/// Most bytes of a row's text, as in a CSV file.
const ROW_MAX: usize = 4 * 1024 * 1024;

/// A rectangle of cells, by rows and columns that count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) first: (u32, u32),
    pub(super) last: (u32, u32),
}

/// The header and the rows of a sheet.
pub(in crate::table) struct Rows {
    pub(in crate::table) header: Vec<String>,
    /// The rows, each as [`Collector::store`] writes it.
    stored: Arc<[u8]>,
}

/// Reads the rows of a sheet from the first one.
pub(in crate::table) struct Stored {
    rows: Arc<[u8]>,
    at: usize,
    columns: usize,
}

impl Rows {
    pub(in crate::table) fn iter(&self) -> Stored {
        Stored {
            rows: Arc::clone(&self.stored),
            at: 0,
            columns: self.header.len(),
        }
    }
}

impl Stored {
    fn number(&mut self) -> Option<u32> {
        let bytes = self.rows.get(self.at..)?.first_chunk::<4>()?;
        self.at += bytes.len();
        Some(u32::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let bytes = self.rows.get(self.at..)?.get(..length)?;
        self.at += length;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Iterator for Stored {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let number = self.number()?;
        let problem = self.text()?;
        let count = self.number()? as usize;
        let mut shown = Vec::with_capacity(self.columns);
        for _ in 0..count {
            shown.push(self.text()?);
        }
        // Cells after the last one with a value are not stored.
        shown.resize(self.columns, String::new());
        Some(Line {
            number,
            shown,
            problem: (!problem.is_empty()).then_some(Problem::Row(problem)),
        })
    }
}

/// Collects the cells of a sheet, row by row.
pub(super) struct Collector {
    /// Merged cells, by their first row.
    merged: Vec<Area>,
    /// The index of the next merged cells to come.
    next_merged: usize,
    /// The merged cells among the earlier ones that reach farthest down.
    lowest: Option<Area>,
    header: Option<Header>,
    row: Row,
    stored: Vec<u8>,
}

struct Header {
    /// The column of the first heading.
    first: u32,
    names: Vec<String>,
}

/// The row whose cells arrive.
#[derive(Default)]
struct Row {
    index: u32,
    /// Cells, from the first column of the table.
    cells: Vec<String>,
    bytes: usize,
    /// The column of the first cell of the header.
    first: u32,
    problem: Option<String>,
}

impl Row {
    fn refuse(&mut self, why: impl FnOnce() -> String) {
        if self.problem.is_none() {
            self.problem = Some(why());
        }
    }
}

impl Collector {
    pub(super) fn new(mut merged: Vec<Area>) -> Self {
        merged.retain(|area| area.first != area.last);
        merged.sort_by_key(|area| area.first);
        Self {
            merged,
            next_merged: 0,
            lowest: None,
            header: None,
            row: Row::default(),
            stored: Vec::new(),
        }
    }

    /// Adds the cell at a row and a column, which count from 0. Rows ascend. `text` is `None` if it
    /// is empty; an error continues a sentence that begins with the cell.
    pub(super) fn add(
        &mut self,
        (row, column): (u32, u32),
        text: Result<Option<Cow<'_, str>>, String>,
    ) -> Result<(), String> {
        if row < self.row.index {
            return Err(super::DAMAGED.to_owned());
        }
        if row > self.row.index {
            self.end_row()?;
            self.row.index = row;
        }
        let text = match text {
            Ok(None) => return Ok(()),
            Ok(Some(text)) if text.is_empty() => return Ok(()),
            Ok(Some(text)) => text,
            Err(why) => {
                let cell = name((row, column));
                self.row.refuse(|| format!("Cell {cell} {why}."));
                return Ok(());
            }
        };
        if text.contains('\0') {
            let cell = name((row, column));
            self.row
                .refuse(|| format!("Cell {cell} has a NUL character."));
        }
        let Some(at) = self.place(column)? else {
            let cell = name((row, column));
            let columns = format!("The row has a value in cell {cell}, where the header has none.");
            self.row.refuse(|| columns);
            return Ok(());
        };
        self.row.bytes += text.len();
        if self.row.bytes > ROW_MAX {
            self.row
                .refuse(|| "The row is longer than 4 MiB.".to_owned());
            return Ok(());
        }
        if self.row.cells.len() <= at {
            self.row.cells.resize(at + 1, String::new());
        }
        self.row.cells[at] = text.into_owned();
        Ok(())
    }

    /// The index of a column in the table; `None` if it is outside. The first cell of the header
    /// decides where the table begins.
    fn place(&mut self, column: u32) -> Result<Option<usize>, String> {
        let (first, end) = if let Some(header) = &self.header {
            (header.first, header.names.len())
        } else {
            if self.row.cells.is_empty() {
                self.row.first = column;
            }
            (self.row.first, usize::MAX)
        };
        let Some(at) = column.checked_sub(first) else {
            return Ok(None);
        };
        let at = at as usize;
        if self.header.is_none() && at >= COLUMNS_MAX {
            return Err(format!("A file has at most {COLUMNS_MAX} columns."));
        }
        Ok((at < end).then_some(at))
    }

    /// The first cells that are merged and in this row of the table.
    fn merged(&mut self, row: u32) -> Option<Area> {
        while let Some(area) = self.merged.get(self.next_merged)
            && area.first.0 <= row
        {
            let is_of_table = self.header.as_ref().is_none_or(|header| {
                let end = header.first as usize + header.names.len();
                area.last.1 >= header.first && (area.first.1 as usize) < end
            });
            let is_lower = self.lowest.is_none_or(|lowest| area.last.0 > lowest.last.0);
            if is_of_table && is_lower {
                self.lowest = Some(*area);
            }
            self.next_merged += 1;
        }
        self.lowest.filter(|area| area.last.0 >= row)
    }

    fn end_row(&mut self) -> Result<(), String> {
        let mut row = std::mem::take(&mut self.row);
        if row.cells.is_empty() && row.problem.is_none() {
            return Ok(());
        }
        if let Some(Area { first, last }) = self.merged(row.index) {
            let (first, last) = (name(first), name(last));
            row.refuse(|| {
                format!("The cells {first} to {last} are merged. Split them, and fill each one.")
            });
        }
        let Some(_) = self.header else {
            if let Some(why) = row.problem {
                return Err(format!("The header cannot be read. {why}"));
            }
            let names = row.cells.iter().map(|cell| cell.trim().to_owned());
            self.header = Some(Header {
                first: row.first,
                names: names.collect(),
            });
            return Ok(());
        };
        self.store(&row);
        if self.stored.len() > TEXT_MAX {
            return Err(
                "The texts of the sheet are longer than 128 MiB. Split it into several files."
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Stores the number of a row, its problem, and its cells, each text after its length.
    fn store(&mut self, row: &Row) {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        self.stored.extend((row.index + 1).to_le_bytes());
        let problem = row.problem.as_deref().unwrap_or_default();
        self.stored.extend(number(problem.len()));
        self.stored.extend(problem.as_bytes());
        self.stored.extend(number(row.cells.len()));
        for cell in &row.cells {
            self.stored.extend(number(cell.len()));
            self.stored.extend(cell.as_bytes());
        }
    }

    /// All rows, after the last cell.
    pub(super) fn finish(mut self, sheet: &str) -> Result<Rows, String> {
        self.end_row()?;
        let Some(header) = self.header else {
            return Err(format!(
                "The sheet \"{sheet}\", the first visible one, is empty. It begins with a row of column names."
            ));
        };
        Ok(Rows {
            header: header.names,
            stored: self.stored.into(),
        })
    }
}

/// The name of a cell, such as `B7`, from a row and a column that count from 0.
fn name((row, column): (u32, u32)) -> String {
    let mut letters = Vec::new();
    let mut left = u64::from(column) + 1;
    while left > 0 {
        left -= 1;
        letters.push(b'A' + u8::try_from(left % 26).unwrap_or_default());
        left /= 26;
    }
    let letters: String = letters.into_iter().rev().map(char::from).collect();
    format!("{letters}{}", u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_name_that_a_spreadsheet_shows() {
        for (at, expected) in [
            ((0, 0), "A1"),
            ((6, 1), "B7"),
            ((0, 25), "Z1"),
            ((0, 26), "AA1"),
            ((1_048_575, 16_383), "XFD1048576"),
        ] {
            assert_eq!(name(at), expected);
        }
    }
}
