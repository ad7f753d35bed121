//! A large body in the pieces in which it arrived.

use std::collections::VecDeque;
use std::io::{self, Read};

use axum::body::Bytes;

/// A body that is read from beginning to end. Memory is freed as soon as it is read. A clone shares
/// the memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks(VecDeque<Bytes>);

impl Chunks {
    pub(super) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.0.push_back(chunk);
        }
    }

    /// The whole body in one piece.
    pub(super) fn into_bytes(mut self) -> Bytes {
        if self.0.len() <= 1 {
            return self.0.pop_front().unwrap_or_default();
        }
        let all: Vec<_> = self.0.into();
        all.concat().into()
    }

    /// Drops the next `bytes` bytes.
    fn skip(&mut self, mut bytes: usize) {
        while bytes > 0
            && let Some(mut chunk) = self.0.pop_front()
        {
            let part = chunk.split_to(bytes.min(chunk.len()));
            bytes -= part.len();
            if !chunk.is_empty() {
                self.0.push_front(chunk);
            }
        }
    }
}

impl From<Bytes> for Chunks {
    fn from(body: Bytes) -> Self {
        let mut chunks = Self::default();
        chunks.push(body);
        chunks
    }
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(chunk) = self.0.front() else {
            return Ok(0);
        };
        let length = buffer.len().min(chunk.len());
        buffer[..length].copy_from_slice(&chunk[..length]);
        self.skip(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_arrived() {
        let mut chunks = Chunks::default();
        for piece in ["ab", "", "c", "defg"] {
            chunks.push(piece.into());
        }
        assert_eq!(chunks.clone().into_bytes(), "abcdefg");
        chunks.skip(3);
        let mut again = String::new();
        chunks.clone().read_to_string(&mut again).unwrap();
        assert_eq!(again, "defg");
        chunks.skip(9);
        assert_eq!(chunks.into_bytes(), "");
    }
}
