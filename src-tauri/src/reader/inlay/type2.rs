//! NFC Forum Type 2 tags: pages of four bytes, which the reader reads (`FF B0`, PC/SC part 3).
//!
//! The kind of chip follows from its maker's byte in the UID and the last page of its memory,
//! because chips of the same size differ in that page. If that is not conclusive, the chip is asked
//! for its version, if its reader passes the command on. Otherwise the result is "another Type 2
//! tag".

mod lock;
mod pages;
mod passed;
mod signature;

use tapdesk_service::inlay::technology::ntag21x::Memory;
use tapdesk_service::inlay::technology::type2::{GET_VERSION, NXP, of_version};

use super::super::apdu::Recorder;
use super::super::card::Fault;
use super::{Chip, Codes, Contents, Lock, MESSAGE_MAX, Message, Original};
use lock::Head;
use pages::{Pages, Refused};
use passed::Passed;

/// Beginning of a storage card's answer to reset (PC/SC part 3, section 3.1.3.2.3.1), for ISO 14443
/// A, part 3.
const STORAGE_CARD: [u8; 13] = [
    0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03,
];
/// The first page of the data area.
const DATA: usize = 4;
/// The size of an Ultralight's data area in units of 8 bytes, and the last page of an Ultralight
/// without settings (data sheet MF0ICU1, section 7.5).
const ULTRALIGHT_SIZE: u8 = 0x06;
const ULTRALIGHT_END: u8 = 0x0F;

/// Whether the reader itself reads the pages of this card.
pub(super) fn is_storage_card(atr: &[u8]) -> bool {
    atr.starts_with(&STORAGE_CARD)
}

/// Reads a Type 2 tag; `None` if the card is something else, such as MIFARE Classic.
pub(super) fn read(card: &mut Recorder<'_>) -> Result<Option<Contents>, Fault> {
    let mut pages = Pages::new(card);
    let head = match pages.four(0, "")? {
        Ok(head) => head,
        Err(Refused::Unreadable) => return Ok(None),
        Err(Refused::Locked) => {
            return Ok(Some(Contents {
                chip: Chip::OtherType2,
                memory: None,
                lock: Lock::Unknown,
                message: Message::Protected,
                codes: Codes::Unknown,
                uid: None,
                original: Original::Unknown,
            }));
        }
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
    let uid = [u0, u1, u2, u3, u4, u5, u6];
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
            lock: lock::lock(&mut pages, None, Head { access: 0, ..head }, false)?,
            message: Message::Unformatted,
            codes: Codes::Unknown,
            uid: Some(uid),
            original: Original::Unknown,
        }));
    }
    let (message, is_protected) = message(&mut pages, memory)?;
    let by_memory = by_memory(&mut pages, head.first_page, size)?;
    let chip = match by_memory {
        Some(chip) => chip,
        None if u0 == NXP => by_version(pages.card),
        None => Chip::OtherType2,
    };
    let layout = lock::Layout::of(chip, size, by_memory.is_some());
    let lock = lock::lock(&mut pages, layout, head, is_protected)?;
    // A new chip is not asked for its signature: a chip that does not know the command falls
    // silent, and could be written only after it is placed again.
    let original = match (chip, &message) {
        (Chip::Ntag213 | Chip::Ntag215 | Chip::Ntag216, Message::Records { .. }) => {
            signature::original(pages.card, uid)
        }
        _ => Original::Unknown,
    };
    Ok(Some(Contents {
        chip,
        memory: Some(memory),
        lock,
        message,
        codes: chip.codes_of_type2(),
        uid: Some(uid),
        original,
    }))
}

/// The chip by its maker, its size and the last page of its memory; `None` if they are not
/// conclusive.
fn by_memory(
    pages: &mut Pages<'_, '_>,
    first_page: [u8; 4],
    size: u8,
) -> Result<Option<Chip>, Fault> {
    let (chip, last) = match Memory::by_size(size) {
        _ if first_page[0] != NXP => return Ok(None),
        Some(technology) => {
            let last = Memory::of(technology).map_or(0, Memory::last_page);
            (Chip::of_type2(Some(technology)), last)
        }
        None if size == ULTRALIGHT_SIZE => (Chip::Ultralight, ULTRALIGHT_END),
        None => return Ok(None),
    };
    Ok(pages.end_with(last, first_page)?.then_some(chip))
}

/// The chip by the version that it reports.
fn by_version(card: &mut Recorder<'_>) -> Chip {
    match passed::ask(card, "Ask for the version", &[GET_VERSION]) {
        Passed::Answered(version) => Chip::of_type2(of_version(&version)),
        Passed::Silent | Passed::Refused => Chip::OtherType2,
    }
}

/// The first message of the data area of `size` bytes, and whether even the beginning of the area
/// needs a password. A failure after that may only mean that the chip has no such page.
fn message(pages: &mut Pages<'_, '_>, size: usize) -> Result<(Message, bool), Fault> {
    let mut area = Area {
        pages,
        bytes: Vec::new(),
        size: size.min(MESSAGE_MAX),
    };
    let found = area.message()?.unwrap_or_else(|broken| broken);
    let is_protected = found == Message::Protected && area.bytes.is_empty();
    Ok((found, is_protected))
}

/// The data area, which is read only as far as needed.
struct Area<'p, 'a, 'c> {
    pages: &'p mut Pages<'a, 'c>,
    bytes: Vec<u8>,
    size: usize,
}

impl Area<'_, '_, '_> {
    /// Walks through the TLV blocks (Type 2 Tag 1.2, section 2.4) up to the message.
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

    /// Reads on until the area is known up to `end`.
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
            match self.pages.four(number, "")? {
                Ok(data) => self.bytes.extend(data),
                Err(Refused::Locked) => return Ok(Err(Message::Protected)),
                Err(Refused::Unreadable) => {
                    return Ok(Err(Message::broken(
                        "The memory cannot be read to its end.",
                    )));
                }
            }
        }
        Ok(Ok(()))
    }
}

/// A TLV block, with its position in the area.
enum Block {
    /// One byte without meaning.
    Filler,
    /// The terminator: nothing follows.
    End,
    /// A block with the message.
    Message { from: usize, to: usize },
    /// Another block, which is skipped.
    Other { to: usize },
}
