//! Tables as spreadsheets and other services write them: bytes in, rows of text out.
//!
//! [`Sheet`] is the only reader of tables: the API, the command line and the screens pass it the
//! unchanged bytes of a file. Their first bytes decide whether they are a workbook (`.xlsx`, `.ods`)
//! or text with separators. Code that uses a [`Line`] knows nothing of either.

mod characters;
pub mod counter;
pub mod damage;
mod lines;
pub mod protection;
mod separator;
mod workbook;

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

pub use characters::Encoding;
use lines::{Lines, Record};
use workbook::{Stored, Workbook};

use crate::plural::counted;

/// Most columns in a table. A record keeps no further cells.
const COLUMNS_MAX: usize = 1_000;

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TableFormat)]
pub enum Format {
    /// Text with separators.
    #[default]
    Csv,
    /// A workbook of Excel.
    Xlsx,
    /// A spreadsheet in the OpenDocument format.
    Ods,
}

/// A file whose kind is known. A workbook is read to its end once, so that its clones share the
/// rows. Text stays in the file.
pub enum TableFile<R> {
    /// Text with separators, still in the file.
    Text(R),
    /// The rows of a workbook.
    Workbook(Arc<WorkbookRows>),
}

/// The rows of a workbook in memory.
pub struct WorkbookRows(Workbook);

impl<R: Clone> Clone for TableFile<R> {
    fn clone(&self) -> Self {
        match self {
            Self::Text(file) => Self::Text(file.clone()),
            Self::Workbook(rows) => Self::Workbook(Arc::clone(rows)),
        }
    }
}

impl<R: Read + Clone> TableFile<R> {
    /// Reads a workbook, or the first bytes of a text. An error is a sentence for people.
    pub fn new(mut file: R) -> Result<Self, String> {
        let mut head = Vec::new();
        let unread = |error: io::Error| format!("The file cannot be read: {error}.");
        let mut begin = file.clone().take(4);
        begin.read_to_end(&mut head).map_err(unread)?;
        if !workbook::is_workbook(&head) {
            return Ok(Self::Text(file));
        }
        drop(begin);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unread)?;
        drop(file);
        let rows = workbook::read(&bytes)?;
        Ok(Self::Workbook(Arc::new(WorkbookRows(rows))))
    }
}

/// A table whose header was read.
pub struct Sheet<R> {
    header: Vec<String>,
    format: Format,
    notes: Vec<String>,
    rows: Rows<R>,
}

/// The rows below the header.
enum Rows<R> {
    Text {
        encoding: Encoding,
        separator: u8,
        lines: Lines<R>,
    },
    Workbook(Stored),
}

/// A row that is not empty.
pub struct Line {
    /// Its number as a spreadsheet shows it: the header is row 1, and empty rows count. A `sep=`
    /// line has no number, because spreadsheets do not show it.
    pub number: u32,
    /// Its cells, as far as they could be read.
    pub shown: Vec<String>,
    /// Why it cannot be used.
    problem: Option<Problem>,
}

/// Why a row cannot be used. Its text is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The row as a whole, or cells of a workbook, which the sentence names.
    #[error("{0}")]
    Row(String),
    /// The cell of the column with this index. The words end a sentence that begins with the column.
    #[error("Cell {} {}", .0 + 1, .1)]
    Cell(usize, String),
}

impl Line {
    /// Its cells, as many as the header has; or why they cannot be used.
    pub fn cells(self) -> Result<Vec<String>, Problem> {
        self.problem.map_or(Ok(self.shown), Err)
    }
}

impl<R: Read + Clone> Sheet<R> {
    /// Reads the header. An error is a sentence for people.
    pub fn open(file: TableFile<R>) -> Result<Self, String> {
        match file {
            TableFile::Text(file) => Self::of_text(file),
            TableFile::Workbook(rows) => {
                let WorkbookRows(workbook) = &*rows;
                Ok(Self {
                    header: workbook.rows.header.clone(),
                    format: workbook.format,
                    notes: workbook.notes.clone(),
                    rows: Rows::Workbook(workbook.rows.iter()),
                })
            }
        }
    }

    fn of_text(file: R) -> Result<Self, String> {
        let (encoding, mark) = characters::of(&file)?;
        let text = |file| characters::Text::new(file, encoding, mark);
        let (separator, is_said) = separator::of(text(file.clone()))?;
        let mut lines = Lines::new(text(file), separator);
        if is_said {
            lines.skip_line();
        }
        let Some((_, record)) = lines.next() else {
            return Err("The file is empty. It begins with a row of column names.".to_owned());
        };
        if record.is_open() {
            return Err("A quote of the header is never closed.".to_owned());
        }
        if record.cells() > COLUMNS_MAX || record.is_too_long() {
            return Err(format!("A file has at most {COLUMNS_MAX} columns."));
        }
        let (header, problem) = texts(&record, encoding);
        if let Some((index, why)) = problem {
            let number = index + 1;
            return Err(format!("The header cannot be read. Column {number} {why}"));
        }
        let plain = |name: String| name.trim_start_matches('\u{feff}').trim().to_owned();
        let western = "The file is not UTF-8, and was read as Windows-1252. Check texts with accents; if they are wrong, save the table as CSV UTF-8.";
        let notes = (encoding == Encoding::Windows1252).then(|| western.to_owned());
        Ok(Self {
            header: header.into_iter().map(plain).collect(),
            format: Format::Csv,
            notes: notes.into_iter().collect(),
            rows: Rows::Text {
                encoding,
                separator,
                lines,
            },
        })
    }
}

impl<R> Sheet<R> {
    /// The names of the columns, trimmed.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The kind of the file.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The encoding of a text's bytes; `None` for a workbook.
    pub const fn encoding(&self) -> Option<Encoding> {
        match &self.rows {
            Rows::Text { encoding, .. } => Some(*encoding),
            Rows::Workbook(_) => None,
        }
    }

    /// The character between two cells of a text; `None` for a workbook.
    pub fn separator(&self) -> Option<char> {
        match &self.rows {
            Rows::Text { separator, .. } => Some((*separator).into()),
            Rows::Workbook(_) => None,
        }
    }

    /// Information about the file for people: a guessed encoding, further sheets.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl<R: Read> Iterator for Sheet<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let (encoding, lines) = match &mut self.rows {
            Rows::Text {
                encoding, lines, ..
            } => (*encoding, lines),
            Rows::Workbook(rows) => return rows.next(),
        };
        let (number, record) = lines.next()?;
        let (shown, not_read) = texts(&record, encoding);
        let (found, expected) = (record.cells(), self.header.len());
        let problem = if record.is_open() {
            let why = "A quote of this row is never closed: the rows after it cannot be read.";
            Some(Problem::Row(why.to_owned()))
        } else if record.is_too_long() {
            let why = "The row is longer than 4 MiB. Perhaps a quote in it is never closed.";
            Some(Problem::Row(why.to_owned()))
        } else if found != expected {
            let found = counted(found as u64, "cell");
            let why = format!("The row has {found}, the header {expected}.");
            Some(Problem::Row(why))
        } else {
            not_read.map(|(index, why)| Problem::Cell(index, why))
        };
        Some(Line {
            number,
            shown,
            problem,
        })
    }
}

/// The cells of a record as text; and the index of the first one with an error, with the words that
/// end a sentence about it.
fn texts(record: &Record, encoding: Encoding) -> (Vec<String>, Option<(usize, String)>) {
    let mut problem = None;
    let texts = record.iter().enumerate().map(|(index, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            let encoding = encoding.name();
            problem.get_or_insert_with(|| {
                let why = format!("is not {encoding} text. Save the table as CSV UTF-8.");
                (index, why)
            });
        } else if text.contains('\0') {
            problem.get_or_insert_with(|| (index, "has a NUL character.".to_owned()));
        }
        text.into_owned()
    });
    (texts.collect(), problem)
}

#[cfg(test)]
mod tests;
