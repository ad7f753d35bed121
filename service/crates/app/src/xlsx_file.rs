//! Writes workbooks (`.xlsx`) with the cells of a CSV file.
//!
//! All cells are texts, and their columns are formatted as text. So a spreadsheet keeps UIDs, slugs
//! and keys as they are, and an edited cell stays a text as well.

use std::fs::File;
use std::io::{self, Seek as _};

use csv::ReaderBuilder;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

use crate::csv_file::BOM;

/// Most rows of a sheet.
pub const ROWS_MAX: u32 = 1_048_576;
/// Most characters of a cell.
const CELL_MAX: usize = 32_767;
/// Replaces the end of a longer text.
const CUT: &str = "…";
/// Width of a column, in characters: a UID fits, and 10 columns fit on a screen.
const WIDTH: f64 = 18.0;

/// A workbook in a temporary file, of which only the present row is in memory.
pub struct XlsxFile {
    workbook: Workbook,
    name: &'static str,
    header: Vec<String>,
    /// The row that is written next, in the present sheet.
    row: u32,
    sheets: u32,
    /// Most rows of a sheet.
    rows_max: u32,
    text: Format,
    bold: Format,
}

impl XlsxFile {
    /// A workbook whose sheets have this name, and a number if there are several.
    pub fn new(name: &'static str) -> Self {
        let text = Format::new().set_num_format("@");
        Self {
            workbook: Workbook::new(),
            name,
            header: Vec::new(),
            row: 0,
            sheets: 0,
            rows_max: ROWS_MAX,
            bold: text.clone().set_bold(),
            text,
        }
    }

    /// Appends whole rows of a CSV file. Its first row is the header. After [`ROWS_MAX`] rows, a
    /// further sheet begins with the header.
    pub fn add(&mut self, rows: &[u8]) -> io::Result<()> {
        let rows = rows.strip_prefix(BOM.as_bytes()).unwrap_or(rows);
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(rows);
        for record in reader.records() {
            let record = record.map_err(io::Error::other)?;
            if self.header.is_empty() {
                self.header = record.iter().map(str::to_owned).collect();
                self.begin_sheet()?;
                continue;
            }
            if self.row == self.rows_max {
                self.begin_sheet()?;
            }
            let sheet = last_sheet(&mut self.workbook, self.sheets)?;
            write(sheet, self.row, record.iter(), &self.text)?;
            self.row += 1;
        }
        Ok(())
    }

    fn begin_sheet(&mut self) -> io::Result<()> {
        self.sheets += 1;
        let name = match self.sheets {
            1 => self.name.to_owned(),
            number => format!("{} {number}", self.name),
        };
        let sheet = self.workbook.add_worksheet_with_constant_memory();
        let sheet = sheet.map_err(io::Error::other)?;
        prepare(sheet, &name, self.header.len(), &self.text).map_err(io::Error::other)?;
        write(sheet, 0, self.header.iter().map(String::as_str), &self.bold)?;
        self.row = 1;
        Ok(())
    }

    /// The finished file, from its beginning.
    pub fn finish(mut self) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        self.workbook
            .save_to_writer(&mut file)
            .map_err(io::Error::other)?;
        file.rewind()?;
        Ok(file)
    }
}

fn last_sheet(workbook: &mut Workbook, sheets: u32) -> io::Result<&mut Worksheet> {
    let last = sheets.saturating_sub(1) as usize;
    workbook
        .worksheet_from_index(last)
        .map_err(io::Error::other)
}

/// Formats a new sheet: columns of text, and a header that stays visible.
fn prepare(
    sheet: &mut Worksheet,
    name: &str,
    columns: usize,
    text: &Format,
) -> Result<(), XlsxError> {
    sheet.set_name(name)?;
    sheet.set_freeze_panes(1, 0)?;
    for column in 0..u16::try_from(columns).unwrap_or(u16::MAX) {
        sheet.set_column_format(column, text)?;
        sheet.set_column_width(column, WIDTH)?;
    }
    Ok(())
}

fn write<'a>(
    sheet: &mut Worksheet,
    row: u32,
    cells: impl Iterator<Item = &'a str>,
    format: &Format,
) -> io::Result<()> {
    for (column, cell) in (0..).zip(cells) {
        if cell.is_empty() {
            continue;
        }
        let cut;
        let cell = if cell.len() > CELL_MAX && cell.chars().count() > CELL_MAX {
            cut = cell.chars().take(CELL_MAX - 1).collect::<String>() + CUT;
            &cut
        } else {
            cell
        };
        sheet
            .write_string_with_format(row, column, cell, format)
            .map_err(io::Error::other)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use domain::table::{Sheet, TableFile};

    use super::*;
    use crate::csv_file::line;

    /// The rows of a finished file, as an import reads them.
    fn read(file: XlsxFile) -> (Vec<String>, Vec<Vec<String>>) {
        let mut bytes = Vec::new();
        file.finish().unwrap().read_to_end(&mut bytes).unwrap();
        let sheet = Sheet::open(TableFile::new(&bytes[..]).unwrap()).unwrap();
        let header = sheet.header().to_vec();
        (header, sheet.map(|row| row.cells().unwrap()).collect())
    }

    fn piece(rows: &[&[&str]]) -> Vec<u8> {
        let lines = rows.iter();
        let lines = lines.map(|row| line(row.iter().map(|cell| (*cell).into())));
        lines.flatten().collect()
    }

    #[test]
    fn cells_of_a_csv_file_are_texts_of_a_workbook() {
        let mut file = XlsxFile::new("Tags");
        let head = BOM.as_bytes().to_vec();
        file.add(&[head, piece(&[&["slug", "uid", "name"]])].concat())
            .unwrap();
        file.add(&piece(&[
            &["0041", "04112233445566", "Käse, \"alt\"\r\nund neu"],
            &["'2023-11-04", "", "'=1+1"],
        ]))
        .unwrap();
        file.add(&[]).unwrap();
        file.add(&piece(&[&["4.11E+12", "x", " b "]])).unwrap();
        let (header, rows) = read(file);
        assert_eq!(header, ["slug", "uid", "name"]);
        assert_eq!(
            rows,
            [
                ["0041", "04112233445566", "Käse, \"alt\"\r\nund neu"],
                ["'2023-11-04", "", "'=1+1"],
                ["4.11E+12", "x", " b "],
            ]
        );
    }

    #[test]
    fn a_full_sheet_is_followed_by_another_with_the_header() {
        let mut file = XlsxFile::new("Taps");
        file.rows_max = 3;
        let rows: [&[&str]; 6] = [&["id"], &["1"], &["2"], &["3"], &["4"], &["5"]];
        file.add(&piece(&rows)).unwrap();
        assert_eq!((file.sheets, file.row), (3, 2));
        let (header, rows) = read(file);
        assert_eq!(
            (header, rows),
            (
                vec!["id".to_owned()],
                vec![vec!["1".to_owned()], vec!["2".to_owned()]]
            )
        );
    }

    #[test]
    fn a_cell_that_is_too_long_for_excel_is_cut_visibly() {
        let mut file = XlsxFile::new("Tags");
        let (fits, long) = ("ä".repeat(CELL_MAX), "ä".repeat(CELL_MAX + 1));
        file.add(&piece(&[&["a", "b"], &[&fits, &long]])).unwrap();
        let (_, rows) = read(file);
        assert_eq!(rows[0][0], fits);
        assert_eq!(rows[0][1].chars().count(), CELL_MAX);
        assert!(rows[0][1].ends_with(CUT));
    }
}
