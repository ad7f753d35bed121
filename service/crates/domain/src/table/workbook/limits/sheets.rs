//! The sheets of an OpenDocument file, whose cells and rows can be repeated by an attribute.

use quick_xml::events::BytesStart;

use super::super::DAMAGED;
use super::super::rows::Area;
use super::{CELL_MAX, ROWS_MAX, THINGS_MAX, TOO_LONG, TOO_MANY_ROWS, attribute, number};

/// Most cells of all sheets, without empty ones at their ends. calamine keeps several copies of
/// each, some 200 bytes.
const CELLS_MAX: u64 = 2_000_000;

/// Most columns of a sheet, as in Excel. calamine ignores further ones.
const COLUMNS_MAX: u64 = 16_384;

const TOO_MANY_CELLS: &str = "The sheets of the workbook have more than 2,000,000 cells together. Save the table as .xlsx or as CSV UTF-8.";

/// Facts about a sheet that calamine does not report.
#[derive(Debug, Default)]
pub(in crate::table::workbook) struct Table {
    pub(in crate::table::workbook) name: String,
    pub(in crate::table::workbook) merged: Vec<Area>,
    /// Formulas without a value, by row and column.
    pub(in crate::table::workbook) without_value: Vec<(u32, u32)>,
}

/// The sheets of a file so far.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    pub(super) tables: Vec<Table>,
    /// Tables in each other.
    depth: u32,
    row: u64,
    row_repeats: u64,
    column: u64,
    cell: Cell,
    /// The last row and the widest row with a value.
    used: (u64, u64),
    /// Cells of the earlier sheets.
    cells: u64,
    /// Bytes of all cells, repeated ones counted as often as they are there.
    kept: u64,
}

/// The cell whose content is read.
#[derive(Debug, Default)]
struct Cell {
    repeats: u64,
    /// Whether calamine keeps it.
    is_kept: bool,
    /// Spaces in it, of which an attribute gives the number.
    spaces: u64,
}

impl Sheets {
    /// Bytes that calamine keeps.
    pub(super) const fn kept(&self) -> u64 {
        self.kept
    }

    pub(super) fn start(&mut self, name: &str, start: &BytesStart<'_>) -> Result<(), String> {
        match name {
            "table" => {
                self.depth += 1;
                if self.depth == 1 {
                    self.begin(attribute(start, "table:name")?);
                }
                if self.tables.len() > THINGS_MAX as usize {
                    return Err(TOO_MANY_CELLS.to_owned());
                }
            }
            "table-row" if self.depth > 0 => {
                self.column = 0;
                self.row_repeats = repeats(start, "table:number-rows-repeated")?;
            }
            "table-cell" | "covered-table-cell" if self.depth > 0 => self.begin_cell(start)?,
            "s" => {
                // A number of spaces: calamine appends each of them.
                let spaces = number(start, "text:c")?.unwrap_or(1);
                self.cell.spaces = self.cell.spaces.saturating_add(spaces);
                if self.cell.spaces > CELL_MAX {
                    return Err(TOO_LONG.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, name: Option<String>) {
        let name = name.map(|name| {
            quick_xml::escape::unescape(&name).map_or_else(|_| name.clone(), Into::into)
        });
        self.tables.push(Table {
            name: name.unwrap_or_default(),
            ..Table::default()
        });
        (self.row, self.used) = (0, (0, 0));
    }

    fn begin_cell(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let repeats = repeats(start, "table:number-columns-repeated")?;
        let (mut has_value, mut has_formula) = (false, false);
        for attribute in start.attributes() {
            let name = attribute.map_err(|_| DAMAGED)?.key.as_ref().to_owned();
            has_value |= name.starts_with("office:") || name == "calcext:value-type";
            has_formula |= name == "table:formula";
        }
        self.cell = Cell {
            repeats,
            is_kept: has_value || has_formula,
            spaces: 0,
        };
        let place = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let (row, column) = (place(self.row), place(self.column));
        let rows = number(start, "table:number-rows-spanned")?.unwrap_or(1);
        let columns = number(start, "table:number-columns-spanned")?.unwrap_or(1);
        let Some(table) = self.tables.last_mut() else {
            return Ok(());
        };
        if rows > 1 || columns > 1 {
            let last = |from: u32, many: u64| from.saturating_add(place(many.saturating_sub(1)));
            table.merged.push(Area {
                first: (row, column),
                last: (last(row, rows), last(column, columns)),
            });
        }
        if has_formula && !has_value {
            table.without_value.push((row, column));
        }
        if table.merged.len() + table.without_value.len() > THINGS_MAX as usize {
            return Err(TOO_MANY_CELLS.to_owned());
        }
        Ok(())
    }

    /// Ends an element. `bytes` are those of its content, if it is a cell.
    pub(super) fn end(&mut self, name: &str, bytes: u64) -> Result<(), String> {
        match name {
            "table" if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.cells += self.used.0 * self.used.1;
                }
            }
            "table-row" if self.depth > 0 => self.row += self.row_repeats,
            "table-cell" | "covered-table-cell" if self.depth > 0 => self.end_cell(bytes)?,
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self, bytes: u64) -> Result<(), String> {
        let cell = std::mem::take(&mut self.cell);
        self.column = self.column.saturating_add(cell.repeats).min(COLUMNS_MAX);
        if !cell.is_kept {
            return Ok(());
        }
        let last_row = self.row.saturating_add(self.row_repeats);
        if last_row > ROWS_MAX {
            return Err(TOO_MANY_ROWS.to_owned());
        }
        let (rows, columns) = self.used;
        self.used = (rows.max(last_row), columns.max(self.column));
        if self.cells + self.used.0 * self.used.1 > CELLS_MAX {
            return Err(TOO_MANY_CELLS.to_owned());
        }
        let times = cell.repeats.min(COLUMNS_MAX) * self.row_repeats;
        self.kept += bytes.saturating_add(cell.spaces).saturating_mul(times);
        Ok(())
    }
}

/// How often a cell or a row is there.
fn repeats(start: &BytesStart<'_>, name: &str) -> Result<u64, String> {
    Ok(number(start, name)?.unwrap_or(1))
}
