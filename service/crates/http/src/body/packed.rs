//! A large body, compressed in memory.

use std::collections::VecDeque;
use std::io::{self, Read};

use axum::body::Bytes;
use flate2::Compression;
use flate2::bufread::{DeflateDecoder, DeflateEncoder};

/// Number of bytes that are compressed at a time, which takes some milliseconds.
pub(super) const PIECE: usize = 256 * 1024;

/// A body that is read from beginning to end. It is compressed, because it may be large, and a table
/// has much that repeats. It is no file, because it may contain keys in clear. Memory is freed as
/// soon as it is read. A clone shares the memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    /// The compressed pieces that are still to be read.
    pieces: VecDeque<Bytes>,
    /// The rest of the piece that is being read.
    open: Bytes,
}

impl Packed {
    /// Appends a piece, which [`pack`] compressed.
    pub(super) fn push(&mut self, piece: Bytes) {
        self.pieces.push_back(piece);
    }
}

/// Compresses a piece that is not empty.
pub(super) fn pack(piece: &[u8]) -> io::Result<Bytes> {
    let mut packed = Vec::new();
    DeflateEncoder::new(piece, Compression::fast()).read_to_end(&mut packed)?;
    packed.shrink_to_fit();
    Ok(packed.into())
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.open.is_empty() {
            let Some(piece) = self.pieces.pop_front() else {
                return Ok(0);
            };
            let mut open = Vec::with_capacity(PIECE);
            DeflateDecoder::new(&*piece).read_to_end(&mut open)?;
            self.open = open.into();
        }
        let part = self.open.split_to(buffer.len().min(self.open.len()));
        buffer[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of these pieces.
    fn packed(pieces: &[&[u8]]) -> Packed {
        let mut packed = Packed::default();
        for piece in pieces {
            packed.push(pack(piece).unwrap());
        }
        packed
    }

    #[test]
    fn what_is_read_is_what_arrived() {
        let mut body = packed(&[b"ab", b"cdefg"]);
        let mut begin = [0; 3];
        body.read_exact(&mut begin).unwrap();
        assert_eq!(&begin, b"abc");
        for _ in 0..2 {
            let mut rest = String::new();
            body.clone().read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "defg", "a clone is read by itself");
        }
        let mut rest = String::new();
        body.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "defg");
        assert_eq!(body.read(&mut begin).unwrap(), 0);
        assert_eq!(Packed::default().read(&mut begin).unwrap(), 0);
    }

    #[test]
    fn a_table_takes_less_than_half_of_its_size() {
        let rows = (0..4_000_u32).map(|row| {
            // Keys repeat nothing, like those of real tables.
            let key = row.wrapping_mul(2_654_435_761);
            format!("bottle-{row},Bottle {row},false,,04de5f{row:08x},ntag424dna,plain,{key:08x}\n")
        });
        let table: String = rows.collect();
        let piece = pack(table.as_bytes()).unwrap();
        assert!(2 * piece.len() < table.len(), "{}", piece.len());
        let mut again = String::new();
        let mut body = packed(&[table.as_bytes()]);
        body.read_to_string(&mut again).unwrap();
        assert_eq!(again, table);
    }
}
