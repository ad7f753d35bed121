//! Tables as spreadsheets and other services write them: bytes in, rows of text out.
//!
//! [`Sheet`] is the only reader of tables: the API, the command line and the screens pass it the
//! unchanged bytes of a file. A workbook (`.xlsx`, `.ods`) will be another source of [`Line`]s;
//! code that uses a line knows nothing of bytes, encodings or separators.

mod characters;
pub mod counter;
pub mod damage;
mod lines;
mod separator;

use std::borrow::Cow;
use std::io::Read;

pub use characters::Encoding;
use lines::{Lines, Record};

use crate::plural::counted;

/// Most columns in a table. A record keeps no further cells.
const COLUMNS_MAX: usize = 1_000;

/// A table whose header was read.
pub struct Sheet<R> {
    header: Vec<String>,
    encoding: Encoding,
    separator: u8,
    lines: Lines<R>,
}

/// A row that is not empty.
pub struct Line {
    /// Its number as a spreadsheet shows it: the header is row 1, and empty rows count. A `sep=`
    /// line has no number, because spreadsheets do not show it.
    pub number: u32,
    /// Its cells, as far as they could be read.
    pub shown: Vec<String>,
    /// Why it cannot be used, in words.
    problem: Option<String>,
}

impl Line {
    /// Its cells, as many as the header has; or why they cannot be used, in words.
    pub fn cells(self) -> Result<Vec<String>, String> {
        self.problem.map_or(Ok(self.shown), Err)
    }
}

impl<R: Read + Clone> Sheet<R> {
    /// Reads the header. An error is a sentence for people.
    pub fn open(file: R) -> Result<Self, String> {
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
        let (header, problem) = texts(&record, encoding, "Column");
        if let Some(why) = problem {
            return Err(format!("The header cannot be read. {why}"));
        }
        let plain = |name: String| name.trim_start_matches('\u{feff}').trim().to_owned();
        Ok(Self {
            header: header.into_iter().map(plain).collect(),
            encoding,
            separator,
            lines,
        })
    }
}

impl<R> Sheet<R> {
    /// The names of the columns, trimmed.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The encoding of its bytes.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The character between two cells.
    pub fn separator(&self) -> char {
        self.separator.into()
    }
}

impl<R: Read> Iterator for Sheet<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let (number, record) = self.lines.next()?;
        let (shown, not_read) = texts(&record, self.encoding, "Cell");
        let (found, expected) = (record.cells(), self.header.len());
        let problem = if record.is_open() {
            let why = "A quote of this row is never closed: the rows after it cannot be read.";
            Some(why.to_owned())
        } else if record.is_too_long() {
            let why = "The row is longer than 4 MiB. Perhaps a quote in it is never closed.";
            Some(why.to_owned())
        } else if found != expected {
            let found = counted(found as u64, "cell");
            Some(format!("The row has {found}, the header {expected}."))
        } else {
            not_read
        };
        Some(Line {
            number,
            shown,
            problem,
        })
    }
}

/// The cells of a record as text; and the first error in them, in words. `name` is the word for a
/// cell.
fn texts(record: &Record, encoding: Encoding, name: &str) -> (Vec<String>, Option<String>) {
    let mut problem = None;
    let texts = record.iter().zip(1..).map(|(bytes, number)| {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            let encoding = encoding.name();
            problem.get_or_insert_with(|| {
                format!("{name} {number} is not {encoding} text. Save the table as CSV UTF-8.")
            });
        } else if text.contains('\0') {
            problem.get_or_insert_with(|| format!("{name} {number} has a NUL character."));
        }
        text.into_owned()
    });
    (texts.collect(), problem)
}

#[cfg(test)]
mod tests;
