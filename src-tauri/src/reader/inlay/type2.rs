//! NFC Forum Type 2 tags: pages of four bytes, which the reader reads (`FF B0`,
//! PC/SC part 3). Which NTAG it is, the capability container's size tells: it
//! cannot be rewritten, and the reader has no common command to ask the chip.

mod lock;
mod signature;

use super::super::apdu::Recorder;
use super::super::card::Fault;
use super::{Chip, Codes, Contents, Lock, MESSAGE_MAX, Message, Original};
use lock::Head;

/// The beginning of a storage card's answer to reset (PC/SC part 3, section
/// 3.1.3.2.3.1), ISO 14443 A, part 3.
const STORAGE_CARD: [u8; 13] = [
    0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03,
];
/// Bytes of one read: four pages.
const AT_ONCE: usize = 16;
/// The first page of the data area.
const DATA: usize = 4;

/// Whether the reader reads this card's pages itself.
pub(super) fn is_storage_card(atr: &[u8]) -> bool {
    atr.starts_with(&STORAGE_CARD)
}

/// Reads a Type 2 tag; `None` if the card is none, such as MIFARE Classic.
pub(super) fn read(card: &mut Recorder<'_>) -> Result<Option<Contents>, Fault> {
    let head = card.send("Read pages 0 to 3", &[0xFF, 0xB0, 0x00, 0x00, 0x10])?;
    let is_locked = head.is_locked();
    let head = head
        .ok()
        .and_then(|data| <[u8; AT_ONCE]>::try_from(data).ok());
    let Some(head) = head else {
        return Ok(is_locked.then_some(Contents {
            chip: Chip::OtherType2,
            memory: None,
            lock: Lock::Unknown,
            message: Message::Protected,
            codes: Codes::Off,
            uid: None,
            original: Original::Unknown,
        }));
    };
    let [
        u0,
        u1,
        u2,
        bcc,
        u3,
        u4,
        u5,
        u6,
        ..,
        lock0,
        lock1,
        magic,
        version,
        size,
        access,
    ] = head;
    let uid = Some([u0, u1, u2, u3, u4, u5, u6]);
    let head = Head {
        first_page: [u0, u1, u2, bcc],
        bits: [lock0, lock1],
        access,
    };
    let memory = usize::from(size) * 8;
    if magic != 0xE1 || version >> 4 != 1 {
        return Ok(Some(Contents {
            chip: Chip::OtherType2,
            memory: None,
            lock: lock::lock(card, Chip::OtherType2, Head { access: 0, ..head }, false)?,
            message: Message::Unformatted,
            codes: Codes::Off,
            uid,
            original: Original::Unknown,
        }));
    }
    let chip = match size {
        0x06 => Chip::Ultralight,
        0x12 => Chip::Ntag213,
        0x3E => Chip::Ntag215,
        0x6D => Chip::Ntag216,
        _ => Chip::OtherType2,
    };
    let message = message(card, memory)?;
    let is_protected = message == Message::Protected;
    let lock = lock::lock(card, chip, head, is_protected)?;
    // A new chip is not asked: one that cannot answer could not be written before it is placed again.
    let original = match (chip, &message) {
        (Chip::Ntag213 | Chip::Ntag215 | Chip::Ntag216, Message::Records { .. }) => {
            signature::original(card, [u0, u1, u2, u3, u4, u5, u6])
        }
        _ => Original::Unknown,
    };
    Ok(Some(Contents {
        chip,
        memory: Some(memory),
        lock,
        message,
        codes: Codes::Off,
        uid,
        original,
    }))
}

/// The first message of the data area, of so many bytes.
fn message(card: &mut Recorder<'_>, size: usize) -> Result<Message, Fault> {
    let mut area = Area {
        card,
        bytes: Vec::new(),
        size: size.min(MESSAGE_MAX),
    };
    let found = area.message()?;
    Ok(found.unwrap_or_else(|broken| broken))
}

/// The data area, read as far as it was needed.
struct Area<'a, 'c> {
    card: &'a mut Recorder<'c>,
    bytes: Vec<u8>,
    size: usize,
}

impl Area<'_, '_> {
    /// Walks the TLV blocks (Type 2 Tag 1.2, section 2.4) up to the message.
    fn message(&mut self) -> Result<Result<Message, Message>, Fault> {
        let mut at = 0;
        while at < self.size {
            let block = match self.block(at)? {
                Ok(block) => block,
                Err(broken) => return Ok(Err(broken)),
            };
            match block {
                Block::Filler => at += 1,
                Block::End => return Ok(Ok(Message::Blank)),
                Block::Message { from, to } => {
                    return Ok(match self.upto(to)? {
                        Ok(()) => Ok(Message::parse(&self.bytes[from..to])),
                        Err(broken) => Err(broken),
                    });
                }
                Block::Other { to } => at = to,
            }
        }
        Ok(Ok(Message::Unformatted))
    }

    fn block(&mut self, at: usize) -> Result<Result<Block, Message>, Fault> {
        if let Err(broken) = self.upto(at + 1)? {
            return Ok(Err(broken));
        }
        let kind = self.bytes[at];
        match kind {
            0x00 => return Ok(Ok(Block::Filler)),
            0xFE => return Ok(Ok(Block::End)),
            _ => {}
        }
        if let Err(broken) = self.upto(at + 2)? {
            return Ok(Err(broken));
        }
        let (length, from) = match self.bytes[at + 1] {
            0xFF => {
                if let Err(broken) = self.upto(at + 4)? {
                    return Ok(Err(broken));
                }
                let long = [self.bytes[at + 2], self.bytes[at + 3]];
                (usize::from(u16::from_be_bytes(long)), at + 4)
            }
            short => (usize::from(short), at + 2),
        };
        let to = from + length;
        Ok(Ok(match kind {
            0x03 => Block::Message { from, to },
            _ => Block::Other { to },
        }))
    }

    /// Reads on until so many bytes of the area are there.
    fn upto(&mut self, end: usize) -> Result<Result<(), Message>, Fault> {
        if end > self.size {
            return Ok(Err(Message::broken(
                "It claims more bytes than its memory holds.",
            )));
        }
        while self.bytes.len() < end {
            let page = DATA + self.bytes.len() / 4;
            let Ok(number) = u8::try_from(page) else {
                return Ok(Err(Message::broken(
                    "It begins beyond the memory that readers can address.",
                )));
            };
            let asked = format!("Read pages {page} to {}", page + 3);
            let answer = self.card.send(&asked, &[0xFF, 0xB0, 0x00, number, 0x10])?;
            if answer.is_locked() {
                return Ok(Err(Message::Protected));
            }
            match answer.ok() {
                Some(data) if data.len() == AT_ONCE => self.bytes.extend(data),
                _ => {
                    return Ok(Err(Message::broken(
                        "The memory cannot be read to its end.",
                    )));
                }
            }
        }
        Ok(Ok(()))
    }
}

/// A TLV block, by where it lies in the area.
enum Block {
    /// One byte that says nothing.
    Filler,
    /// Nothing follows.
    End,
    /// A message.
    Message { from: usize, to: usize },
    /// Something else, to be passed by.
    Other { to: usize },
}
