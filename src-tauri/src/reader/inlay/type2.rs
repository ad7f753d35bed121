//! NFC Forum Type 2 tags: pages of four bytes, which the reader reads (`FF B0`, PC/SC part 3).
//!
//! The kind of chip follows from its maker's byte in the UID and the last page of its memory,
//! because chips of the same size differ in that page. If that is not conclusive, the chip is asked
//! for its version, if its reader passes the command on. Otherwise the result is "another Type 2
//! tag".

mod pages;
mod signature;

use tapdesk_service::inlay::technology::Access;
use tapdesk_service::inlay::technology::ntag21x::Memory;
use tapdesk_service::inlay::technology::type2::{
    self, Block, FIRST_PAGE, GET_VERSION, Head, LockLayout, NXP, PAGE, Tail, by_size, of_version,
};

use super::super::apdu::Recorder;
use super::super::card::Fault;
use super::super::passed::{self, Passed};
use super::{Chip, Codes, Contents, MESSAGE_MAX, Message, Original};
use pages::{Pages, Refused};

/// Beginning of a storage card's answer to reset (PC/SC part 3, section 3.1.3.2.3.1), for ISO 14443
/// A, part 3.
const STORAGE_CARD: [u8; 13] = [
    0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03,
];

/// The names of other storage cards, which follow in the answer to reset: MIFARE Classic 1K, 4K and
/// Mini, and MIFARE Plus that acts as one (PC/SC part 3); Topaz and `FeliCa`, as readers of ACS name
/// them (ACR122U API 2.04).
const OTHER_CARDS: [[u8; 2]; 10] = [
    [0x00, 0x01],
    [0x00, 0x02],
    [0x00, 0x26],
    [0x00, 0x36],
    [0x00, 0x37],
    [0x00, 0x38],
    [0x00, 0x39],
    [0xF0, 0x04],
    [0xF0, 0x11],
    [0xF0, 0x12],
];

/// Whether the reader itself reads the pages of this card.
pub(super) fn is_storage_card(atr: &[u8]) -> bool {
    atr.starts_with(&STORAGE_CARD)
}

/// Whether the reader says that a storage card is of another kind than Type 2.
fn is_named_otherwise(atr: &[u8]) -> bool {
    let name = atr.get(STORAGE_CARD.len()..STORAGE_CARD.len() + 2);
    name.is_some_and(|name| match *name {
        // The chip's `SAK` in place of a name: this bit is that of MIFARE Classic.
        [0xFF, sak] => sak & 0x08 != 0,
        _ => OTHER_CARDS.iter().any(|other| name == other),
    })
}

/// Reads a Type 2 tag by its answer to reset; `None` if the card is something else, such as MIFARE
/// Classic.
pub(super) fn read(card: &mut Recorder<'_>, atr: &[u8]) -> Result<Option<Contents>, Fault> {
    let mut pages = Pages::new(card);
    let head = match pages.four(0, "")? {
        Ok(head) => head,
        Err(Refused::Unreadable) => return Ok(None),
        // Readers use the same status for a card that is read only after its key. A name alone can be
        // wrong, so it counts only here.
        Err(Refused::Locked) if is_named_otherwise(atr) => return Ok(None),
        Err(Refused::Locked) => {
            return Ok(Some(Contents {
                chip: Chip::OtherType2,
                memory: None,
                lock: Access::Unknown,
                message: Message::Protected,
                codes: Codes::Unknown,
                uid: None,
                original: Original::Unknown,
            }));
        }
    };
    let head = Head::parse(head);
    let uid = head.uid;
    let Some(container) = head.container else {
        return Ok(Some(Contents {
            chip: Chip::OtherType2,
            memory: None,
            lock: lock(&mut pages, None, &head, false)?,
            message: Message::Unformatted,
            codes: Codes::Unknown,
            uid: Some(uid),
            original: Original::Unknown,
        }));
    };
    let memory = usize::from(container.size) * 8;
    let (message, is_protected) = message(&mut pages, memory)?;
    let by_memory = by_memory(&mut pages, &head, container.size)?;
    let chip = match by_memory {
        Some(chip) => chip,
        None if uid[0] == NXP => by_version(pages.card),
        None => Chip::OtherType2,
    };
    let layout = chip.technology();
    let layout = layout.and_then(|one| LockLayout::of(one, container.size, by_memory.is_some()));
    let lock = lock(&mut pages, layout, &head, is_protected)?;
    // A new chip is not asked for its signature: a chip that does not know the command falls
    // silent, and could be written only after it is placed again.
    let is_signed = chip.technology().and_then(Memory::of).is_some();
    let original = match &message {
        Message::Records { .. } if is_signed => signature::original(pages.card, uid),
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
fn by_memory(pages: &mut Pages<'_, '_>, head: &Head, size: u8) -> Result<Option<Chip>, Fault> {
    let Some((technology, last)) = by_size(size).filter(|_| head.uid[0] == NXP) else {
        return Ok(None);
    };
    let ends = pages.end_with(last, head.first_page)?;
    Ok(ends.then_some(Chip::Known(technology)))
}

/// The chip by the version that it reports.
fn by_version(card: &mut Recorder<'_>) -> Chip {
    let technology = match passed::ask(card, "Ask for the version", &[GET_VERSION]) {
        Passed::Answered(version) => of_version(&version),
        Passed::Silent | Passed::Refused => None,
    };
    technology.map_or(Chip::OtherType2, Chip::Known)
}

/// Who may write to the chip. `is_protected` says that its data cannot be read without a password.
fn lock(
    pages: &mut Pages<'_, '_>,
    layout: Option<LockLayout>,
    head: &Head,
    is_protected: bool,
) -> Result<Access, Fault> {
    let tail = match layout.map(|layout| (layout, layout.page())) {
        None => Tail::Unknown,
        Some((layout, None)) => layout.without_settings(),
        Some((layout, Some(page))) => match pages.four(page, ": locks and password")? {
            Ok(read) => layout.read(read, head),
            Err(Refused::Locked) => Tail::Refused,
            Err(Refused::Unreadable) => Tail::Unknown,
        },
    };
    Ok(type2::access(head, tail, is_protected))
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
    /// Walks through the blocks up to the message.
    fn message(&mut self) -> Result<Result<Message, Message>, Fault> {
        let mut at = 0;
        while at < self.size {
            let block = match Block::at(&self.bytes, at) {
                Ok(block) => block,
                Err(needed) => match self.upto(needed)? {
                    Ok(()) => continue,
                    Err(broken) => return Ok(Err(broken)),
                },
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

    /// Reads on until the area is known up to `end`.
    fn upto(&mut self, end: usize) -> Result<Result<(), Message>, Fault> {
        if end > self.size {
            return Ok(Err(Message::broken(
                "It claims more bytes than its memory holds.",
            )));
        }
        while self.bytes.len() < end {
            let page = usize::from(FIRST_PAGE) + self.bytes.len() / PAGE;
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
