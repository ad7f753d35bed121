//! The records of a text with separators (RFC 4180, and as spreadsheets read it).

use std::io::Read;

use super::COLUMNS_MAX;
use super::characters::Text;

/// Most bytes of a row that are kept: all columns, each with the longest value of a property (4,096
/// bytes).
const ROW_MAX: usize = 4 * 1024 * 1024;

/// Bytes of one read.
const PIECE: usize = 64 * 1024;

/// The rows of a text that are not empty, with their numbers.
pub(super) struct Lines<R> {
    text: Text<R>,
    piece: Vec<u8>,
    from: usize,
    to: usize,
    separator: u8,
    number: u32,
}

/// A row. It takes at most [`ROW_MAX`] bytes, however long it is in the file.
#[derive(Default)]
pub(super) struct Record {
    text: Vec<u8>,
    /// The ends of the first [`COLUMNS_MAX`] cells in the text.
    ends: Vec<usize>,
    cells: usize,
    too_long: bool,
    open: bool,
}

impl Record {
    /// The number of its cells.
    pub(super) const fn cells(&self) -> usize {
        self.cells
    }

    /// Whether its text was too long to be kept.
    pub(super) const fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Whether the file ended within quotes.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// Cells in order, without quotes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        self.ends.iter().map(move |to| {
            let cell = &self.text[from..*to];
            from = *to;
            cell
        })
    }

    fn push(&mut self, byte: u8) {
        if self.text.len() < ROW_MAX {
            self.text.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn end_cell(&mut self) {
        self.cells += 1;
        if self.ends.len() < COLUMNS_MAX {
            self.ends.push(self.text.len());
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.too_long && !self.open
    }
}

/// The position in a cell.
#[derive(Clone, Copy)]
enum CellState {
    Start,
    Plain,
    Quoted,
    /// After a quote that either ends the quoted part, or is the first of two.
    Quote,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(text: Text<R>, separator: u8) -> Self {
        Self {
            text,
            piece: vec![0; PIECE],
            from: 0,
            to: 0,
            separator,
            number: 0,
        }
    }

    /// Skips a line without counting it, and empty ones before it.
    pub(super) fn skip_line(&mut self) {
        let mut empty = true;
        while let Some(byte) = self.byte() {
            if !matches!(byte, b'\n' | b'\r') {
                empty = false;
            } else if !empty {
                self.skip_line_feed(byte);
                return;
            }
        }
    }

    fn peek(&mut self) -> Option<u8> {
        if self.from == self.to {
            // Bytes in memory: reading them cannot fail.
            (self.from, self.to) = (0, self.text.read(&mut self.piece).unwrap_or(0));
        }
        self.piece[self.from..self.to].first().copied()
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.from += 1;
        Some(byte)
    }

    /// A carriage return and a line feed end one line.
    fn skip_line_feed(&mut self, end: u8) {
        if end == b'\r' && self.peek() == Some(b'\n') {
            self.from += 1;
        }
    }

    /// The next row, even if it is empty; `None` at the end of the file.
    fn record(&mut self) -> Option<Record> {
        self.peek()?;
        let mut record = Record::default();
        let mut place = CellState::Start;
        loop {
            let Some(byte) = self.byte() else {
                record.open = matches!(place, CellState::Quoted);
                break;
            };
            place = match (place, byte) {
                (CellState::Quoted, b'"') => CellState::Quote,
                (CellState::Start, b'"') => CellState::Quoted,
                // A doubled quote stands for one quote in the text.
                (CellState::Quoted, _) | (CellState::Quote, b'"') => {
                    record.push(byte);
                    CellState::Quoted
                }
                (_, b'\n' | b'\r') => {
                    self.skip_line_feed(byte);
                    break;
                }
                (_, byte) if byte == self.separator => {
                    record.end_cell();
                    CellState::Start
                }
                (_, _) => {
                    record.push(byte);
                    CellState::Plain
                }
            };
        }
        record.end_cell();
        Some(record)
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = (u32, Record);

    fn next(&mut self) -> Option<(u32, Record)> {
        loop {
            let record = self.record()?;
            self.number = self.number.saturating_add(1);
            if !record.is_empty() {
                return Some((self.number, record));
            }
        }
    }
}
