//! Counts the bytes of one event of XML while it is read.

use std::io::{self, BufRead, BufReader, Read};

/// A part of a file, of whose events none is longer than a limit.
pub(super) struct Measured<R> {
    part: BufReader<R>,
    most: u64,
    bytes: u64,
}

impl<R: Read> Measured<R> {
    pub(super) fn new(part: R, most: u64) -> Self {
        Self {
            part: BufReader::with_capacity(64 * 1024, part),
            most,
            bytes: 0,
        }
    }

    /// Begins to count another event.
    pub(super) const fn begin(&mut self) {
        self.bytes = 0;
    }

    /// Bytes of the present event.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the event was too long, and its reading failed.
    pub(super) const fn is_over(&self) -> bool {
        self.bytes > self.most
    }
}

impl<R: Read> Read for Measured<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: Read> BufRead for Measured<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_over() {
            return Err(io::Error::other("too long"));
        }
        self.part.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.part.consume(bytes);
        self.bytes += bytes as u64;
    }
}
