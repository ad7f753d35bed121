//! The rows in a stream of bytes.

use crate::resumable::Rows;

/// How much of a file was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes.
    pub bytes: u64,
    /// The number of rows. The header of a CSV file counts as one.
    pub rows: u64,
}

/// Counts rows as they pass, however they are cut into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    progress: Progress,
    /// The position after the last whole row.
    whole: Progress,
    quoted: bool,
}

impl Count {
    pub(super) const fn progress(&self) -> Progress {
        self.progress
    }

    pub(super) fn add(&mut self, piece: &[u8], rows: Rows) {
        for byte in piece {
            self.progress.bytes += 1;
            match byte {
                b'"' => self.quoted = !self.quoted && rows == Rows::Csv,
                b'\n' if !self.quoted => {
                    self.progress.rows += 1;
                    self.whole = self.progress;
                }
                _ => {}
            }
        }
    }

    /// Forgets the bytes after the last whole row.
    pub(super) fn cut(&mut self) {
        self.progress = self.whole;
        self.quoted = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_in_quotes_ends_no_row() {
        let csv = "name\r\n\"two\r\nli\"\"nes\"\r\nLamp\r\nCh";
        let jsonl = "{\"name\": \"a\\\"\"}\n{\"name\": \"b\"}\n{";
        for (text, rows, expected) in [(csv, Rows::Csv, 3), (jsonl, Rows::Jsonl, 2)] {
            let mut count = Count::default();
            for piece in text.as_bytes().chunks(3) {
                count.add(piece, rows);
            }
            let Progress { bytes, rows } = count.progress();
            assert_eq!((bytes, rows), (text.len() as u64, expected), "{text}");
            count.cut();
            let whole = text.rfind('\n').unwrap() + 1;
            assert_eq!(count.progress().bytes, whole as u64, "{text}");
        }
    }
}
