//! Reading a file: the separator, the header, the rows.

use std::collections::HashSet;
use std::sync::Arc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::column::Column;
use crate::http::body::Chunks;
use crate::plural::counted;
use crate::tag::cell::Cell;

/// Most columns in a file.
const COLUMNS_MAX: usize = 1_000;

/// How far the separator is looked for, in bytes: more than a header with every column has.
const HEADER_MAX: usize = 1024 * 1024;

/// A file whose header is read.
pub(in super::super) struct Table {
    columns: Arc<[Column]>,
    lines: Lines,
}

/// The cells of a row, one for each column; or why there are none, in words.
pub(in super::super) type Cells = Result<Vec<Cell>, String>;

/// A row.
pub(in super::super) struct Row {
    /// Its number as a spreadsheet shows it: the header is row 1, and an empty
    /// row counts.
    pub(in super::super) number: u32,
    /// What it says.
    pub(in super::super) cells: Cells,
}

impl Table {
    /// Reads the header. A mistake in it is a sentence for people.
    pub(in super::super) fn open(file: Chunks) -> Result<Self, String> {
        let mut lines = Lines::new(file);
        let Some(header) = lines.next() else {
            return Err("The file is empty. It begins with a row of column names.".to_owned());
        };
        let header = decode(&header, |number| format!("Column {number}"))
            .map_err(|why| format!("The header cannot be read. {why}"))?;
        if header.len() > COLUMNS_MAX {
            return Err(format!("A file has at most {COLUMNS_MAX} columns."));
        }
        let mut columns = Vec::with_capacity(header.len());
        let mut seen = HashSet::new();
        for name in header {
            let name = name.text().unwrap_or_default().trim();
            let Some(column) = Column::parse(name) else {
                let names = Column::names();
                return Err(format!("There is no column \"{name}\". There are {names}."));
            };
            if !seen.insert(column.clone()) {
                return Err(format!("The column \"{name}\" is there twice."));
            }
            columns.push(column);
        }
        let columns = columns.into();
        Ok(Self { columns, lines })
    }

    /// The columns, in the order of the cells.
    pub(in super::super) fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// How many rows are left; reads to the end.
    pub(in super::super) fn count(self) -> usize {
        self.lines.count()
    }
}

impl Iterator for Table {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let record = self.lines.next()?;
        let (found, expected) = (record.len(), self.columns.len());
        let cells = if found == expected {
            decode(&record, |number| format!("Cell {number}"))
        } else {
            let found = counted(found as u64, "cell");
            Err(format!("The row has {found}, the header {expected}."))
        };
        let number = self.lines.number;
        Some(Row { number, cells })
    }
}

fn decode(record: &ByteRecord, name: impl Fn(usize) -> String) -> Cells {
    let cells = record.iter().enumerate().map(|(index, bytes)| {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| format!("{} is not UTF-8 text.", name(index + 1)))?;
        Ok(Cell::decode(text))
    });
    cells.collect()
}

/// The separator of a file, by its header.
pub(in crate::http::admin) fn separator(file: &Chunks) -> u8 {
    let header = file.peek();
    let header = header.take_while(|byte| !matches!(byte, b'\n' | b'\r'));
    let header: Vec<_> = header.take(HEADER_MAX).collect();
    let cells = |separator| header.split(|byte| *byte == separator).count();
    if cells(b';') > cells(b',') {
        b';'
    } else {
        b','
    }
}

/// The rows that are not empty, with their numbers.
struct Lines {
    reader: Reader<Chunks>,
    number: u32,
}

impl Lines {
    fn new(mut file: Chunks) -> Self {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        if file.peek().take(3).eq(BYTE_ORDER_MARK.iter().copied()) {
            file.skip(BYTE_ORDER_MARK.len());
        }
        let separator = separator(&file);
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(file);
        Self { reader, number: 0 }
    }
}

impl Iterator for Lines {
    type Item = ByteRecord;

    fn next(&mut self) -> Option<ByteRecord> {
        let mut record = ByteRecord::new();
        loop {
            let before = self.reader.position().line();
            // Bytes in memory, any of them, and any number of cells: nothing can fail.
            if !self.reader.read_byte_record(&mut record).unwrap_or(false) {
                return None;
            }
            // The reader skips empty lines; a spreadsheet numbers them. A row
            // has one line, and one more for each line break in its cells.
            let lines = self.reader.position().line() - before;
            let inside = record.as_slice().iter().filter(|byte| **byte == b'\n');
            let empty = lines.saturating_sub(1 + inside.count() as u64);
            self.number += 1 + u32::try_from(empty).unwrap_or(u32::MAX - 1);
            if !record.iter().all(<[u8]>::is_empty) {
                return Some(record);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::TagColumn;
    use axum::body::Bytes;

    fn chunks(file: impl AsRef<[u8]>) -> Chunks {
        Bytes::copy_from_slice(file.as_ref()).into()
    }

    fn rows(file: &str) -> Vec<(u32, Cells)> {
        let table = Table::open(chunks(file)).unwrap();
        table.map(|row| (row.number, row.cells)).collect()
    }

    fn row(number: u32, texts: &[&str]) -> (u32, Cells) {
        (
            number,
            Ok(texts.iter().map(|text| Cell::decode(text)).collect()),
        )
    }

    #[test]
    fn separator_and_byte_order_mark_are_found() {
        for file in [
            "name,title\na,b\n",
            "name;title\r\na;b\r\n",
            "\u{feff}name,title\ra,b",
            "\u{feff}\"name\";\"title\"\n\"a\";\"b\"",
            " name , title \na,b",
        ] {
            assert_eq!(rows(file), [row(2, &["a", "b"])], "{file:?}");
        }
    }

    #[test]
    fn rows_have_the_numbers_of_a_spreadsheet() {
        for end in ["\n", "\r\n"] {
            let file = ["name,title", "a,1", "", "", "b,\"x\ny\"", ",", "c,2", "d"].join(end);
            let expected = [
                row(2, &["a", "1"]),
                row(5, &["b", "x\ny"]),
                row(7, &["c", "2"]),
                (8, Err("The row has 1 cell, the header 2.".to_owned())),
            ];
            assert_eq!(rows(&file), expected, "{end:?}");
        }
    }

    #[test]
    fn a_header_that_is_not_understood_is_refused_in_words() {
        for (file, part) in [
            ("", "The file is empty"),
            ("\n\n", "The file is empty"),
            ("name,colour\n", "no column \"colour\""),
            ("name,,title\n", "no column \"\""),
            ("name,name\n", "\"name\" is there twice"),
            ("name,attribute:a b\n", "no column \"attribute:a b\""),
        ] {
            let refused = Table::open(chunks(file)).err().unwrap();
            assert!(refused.contains(part), "{refused}");
        }
        let utf16 = Table::open(chunks(b"\xff\xfen\0a\0m\0e\0")).err();
        assert!(utf16.unwrap().contains("Column 1 is not UTF-8"));
    }

    #[test]
    fn text_of_another_encoding_is_named() {
        let file = chunks(b"name,title\nK\xe4se,b\n");
        let row = Table::open(file).unwrap().next().unwrap();
        assert_eq!(row.cells, Err("Cell 1 is not UTF-8 text.".to_owned()));
    }

    #[test]
    fn columns_stand_in_the_order_of_the_file() {
        let table = Table::open(chunks("title,uid,name\n")).unwrap();
        let expected = [
            Column::Tag(TagColumn::Title),
            Column::Inlay("uid"),
            Column::Tag(TagColumn::Name),
        ];
        assert_eq!(table.columns()[..], expected);
    }
}
