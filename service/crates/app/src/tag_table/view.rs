//! Shows a table as an import reads it, so that a person can choose the columns to import.

use std::io::Read;
use std::ops::RangeInclusive;

use serde::Serialize;
use utoipa::ToSchema;

use super::preset::Preset;
use domain::table::{Encoding, Format, Sheet, TableFile};

/// Maximum number of rows in an answer.
const SHOWN_MAX: usize = 1_000;

/// Number of rows that are shown by default: enough to recognise the content of a column.
const SAMPLE: usize = 3;

/// A file as an import would read it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTable)]
pub struct TableView {
    /// The kind of the file, which its bytes decide.
    format: Format,
    /// The character encoding of a CSV file. Null for a workbook.
    encoding: Option<Encoding>,
    /// The character between cells of a CSV file. Null for a workbook.
    #[schema(example = ";")]
    separator: Option<String>,
    /// Information about the file for people: the encoding if it was a guess, and which sheet was
    /// read.
    notes: Vec<String>,
    /// Number of rows, without the header and empty rows.
    row_count: usize,
    /// The columns of the file, in their order.
    columns: Vec<ShownColumn>,
    /// The requested rows of the file.
    rows: Vec<ShownRow>,
}

/// A column of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTableColumn)]
struct ShownColumn {
    /// Heading of the column in the file.
    heading: String,
    /// The likely meaning: a column of an import. Null if there is none.
    column: Option<String>,
    /// Whether the meaning is a guess, because no public document of the service contains this
    /// heading.
    guessed: bool,
}

/// A row of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportTableRow)]
struct ShownRow {
    /// Row number in a spreadsheet; the header is row 1.
    row: u32,
    /// The cells as they are in the file. There can be more or fewer cells than columns.
    cells: Vec<String>,
}

/// Reads a file to its end, and shows the rows with the chosen numbers; by default the first three.
/// The error is a sentence for people.
pub fn view(
    file: impl Read + Clone,
    preset: &Preset,
    chosen: Option<&[RangeInclusive<u32>]>,
) -> Result<TableView, String> {
    let mut sheet = Sheet::open(TableFile::new(file)?)?;
    let columns = sheet.header().iter().zip(preset.suggest(sheet.header()));
    let columns = columns.map(|(heading, found)| {
        let (column, guessed) = found.map_or((None, false), |(name, guess)| (Some(name), guess));
        ShownColumn {
            heading: heading.clone(),
            column,
            guessed,
        }
    });
    let columns = columns.collect();
    let (mut row_count, mut rows) = (0, Vec::new());
    for line in &mut sheet {
        row_count += 1;
        let is_shown = match chosen {
            Some(ranges) => ranges.iter().any(|range| range.contains(&line.number)),
            None => rows.len() < SAMPLE,
        };
        if is_shown && rows.len() < SHOWN_MAX {
            rows.push(ShownRow {
                row: line.number,
                cells: line.shown,
            });
        }
    }
    if row_count == 0 {
        return Err("The file has no rows below its header.".to_owned());
    }
    Ok(TableView {
        format: sheet.format(),
        encoding: sheet.encoding(),
        separator: sheet.separator().map(String::from),
        notes: sheet.notes().to_vec(),
        row_count,
        columns,
        rows,
    })
}

/// Parses `3,7-12`. The error is a sentence for people.
pub fn ranges(text: &str) -> Result<Vec<RangeInclusive<u32>>, String> {
    let ranges = text.split(',').map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse().ok()?..=to.parse().ok()?)
    });
    let ranges: Option<Vec<_>> = ranges.take(SHOWN_MAX + 1).collect();
    let few = ranges.filter(|ranges| ranges.len() <= SHOWN_MAX);
    few.ok_or_else(|| "rows are numbers and ranges, at most 1,000, as 3,7-12.".to_owned())
}
