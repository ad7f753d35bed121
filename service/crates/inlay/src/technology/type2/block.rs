//! The blocks (TLVs) of a data area (Type 2 Tag 1.2, section 2.4).

/// The type of the block with the message.
pub const MESSAGE: u8 = 0x03;
/// The terminator, a block of one byte: no block follows.
pub const TERMINATOR: u8 = 0xFE;
/// A block of one byte without meaning.
const FILLER: u8 = 0x00;

/// A block, with its position in the data area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// One byte without meaning.
    Filler,
    /// The terminator: nothing follows.
    End,
    /// The NDEF message of the chip.
    Message {
        /// Index of the message's first byte.
        from: usize,
        /// Index after its last byte; it can be outside of the area.
        to: usize,
    },
    /// A block of another type.
    Other {
        /// Index of the next block.
        to: usize,
    },
}

impl Block {
    /// The block that begins at `at`. `area` is the beginning of the data area, as far as it is
    /// known: a reader need not read all of a chip.
    ///
    /// # Errors
    ///
    /// The length that `area` needs for the next step, if it is shorter.
    pub fn at(area: &[u8], at: usize) -> Result<Self, usize> {
        let byte = |at: usize| area.get(at).copied().ok_or(at + 1);
        let kind = byte(at)?;
        match kind {
            FILLER => return Ok(Self::Filler),
            TERMINATOR => return Ok(Self::End),
            _ => {}
        }
        let (length, from) = match byte(at + 1)? {
            0xFF => {
                let low = byte(at + 3)?;
                let length = u16::from_be_bytes([byte(at + 2)?, low]);
                (usize::from(length), at + 4)
            }
            short => (usize::from(short), at + 2),
        };
        let to = from + length;
        Ok(match kind {
            MESSAGE => Self::Message { from, to },
            _ => Self::Other { to },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new NTAG213 states the position of its lock bytes before its empty message (data sheet
    /// rev 3.2, section 8.5.6).
    #[test]
    fn the_blocks_of_a_new_chip_are_found_in_their_order() {
        let area = [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE, 0x00];
        assert_eq!(Block::at(&area, 0), Ok(Block::Other { to: 5 }));
        assert_eq!(Block::at(&area, 5), Ok(Block::Message { from: 7, to: 7 }));
        assert_eq!(Block::at(&area, 7), Ok(Block::End));
        assert_eq!(Block::at(&area, 8), Ok(Block::Filler));
    }

    #[test]
    fn a_length_of_three_bytes_is_read() {
        let message = Block::Message { from: 4, to: 516 };
        assert_eq!(Block::at(&[0x03, 0xFF, 0x02, 0x00], 0), Ok(message));
    }

    #[test]
    fn the_missing_bytes_are_asked_for_step_by_step() {
        let area = [0x03, 0xFF, 0x01];
        for (known, needed) in [(0, 1), (1, 2), (2, 4), (3, 4)] {
            assert_eq!(Block::at(&area[..known], 0), Err(needed));
        }
    }
}
