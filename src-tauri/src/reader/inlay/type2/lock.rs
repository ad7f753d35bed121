//! Who may write a Type 2 chip. It depends on the lock bits of its first pages, the lock bits for
//! later pages, the first page that needs a password, and the capability container, which only
//! phones respect.
//!
//! Sources: data sheets NTAG213/215/216 rev 3.2, sections 8.5.2, 8.5.3 and 8.5.7; MF0ICU1, section
//! 7.5.2; `MF0ULx1` and NTAG210/212, section 8.5.

use super::super::super::card::Fault;
use super::super::{Chip, Lock};
use super::pages::{Pages, Refused};
use super::{ULTRALIGHT_END, ULTRALIGHT_SIZE};

/// The first page of the data area.
const DATA_PAGE: u8 = 4;

/// The lock information at the beginning of the memory.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// Page 0: the beginning of the UID. A read past the end of the memory continues with it.
    pub(super) first_page: [u8; 4],
    /// The lock bits of pages 3 to 15.
    pub(super) bits: [u8; 2],
    /// The capability container's access byte; 0 if there is no container.
    pub(super) access: u8,
}

/// Positions of a chip's lock information.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The page before the first configuration page. It holds the dynamic lock bytes, if the chip
    /// has any. `None` for a chip without settings.
    locks: Option<u8>,
    /// The dynamic lock bits that exist.
    all: u16,
    /// The last page of the data area.
    last: u8,
}

impl Layout {
    /// The layout of a chip; `None` if unknown. `by_memory` says that the memory ends like that of
    /// the simplest chip of its name.
    pub(super) fn of(chip: Chip, size: u8, by_memory: bool) -> Option<Self> {
        let (locks, all, last) = match chip {
            Chip::Ntag213 => (Some(0x28), 0x0FFF, 0x27),
            Chip::Ntag215 => (Some(0x82), 0x00FF, 0x81),
            Chip::Ntag216 => (Some(0xE2), 0x3FFF, 0xE1),
            Chip::Ultralight if by_memory => (None, 0, ULTRALIGHT_END),
            // `MF0UL11` and NTAG210.
            Chip::Ultralight | Chip::Ntag210 if size == ULTRALIGHT_SIZE => {
                (Some(ULTRALIGHT_END), 0, ULTRALIGHT_END)
            }
            _ => return None,
        };
        Some(Self { locks, all, last })
    }
}

/// The lock information after the data area.
enum Tail {
    Read {
        /// Lock bits of the pages from 16 on, and a mask of the bits that exist.
        bits: u16,
        all: u16,
        /// The first page that needs a password.
        auth0: u8,
        /// The last page of the data area.
        last: u8,
    },
    /// Reading it needs a password.
    Refused,
    Unknown,
}

/// Who may write to the chip. `is_protected` says that its data cannot be read without a password,
/// and so cannot be written either.
pub(super) fn lock(
    pages: &mut Pages<'_, '_>,
    layout: Option<Layout>,
    head: Head,
    is_protected: bool,
) -> Result<Lock, Fault> {
    let tail = tail(pages, layout, head)?;
    let first = u16::from_be_bytes([head.bits[0] & 0xF0, head.bits[1]]);
    Ok(match tail {
        Tail::Read { bits, all, .. } if first == 0xF0FF && bits == all => Lock::Locked,
        Tail::Read { auth0, .. } if auth0 <= DATA_PAGE => Lock::Key,
        Tail::Read {
            bits, auth0, last, ..
        } if first != 0 || bits != 0 || auth0 <= last => Lock::Partly,
        Tail::Read { .. } if head.access & 0x0F == 0x0F => Lock::Marked,
        Tail::Read { .. } => Lock::Open,
        Tail::Refused | Tail::Unknown if is_protected => Lock::Key,
        Tail::Unknown if first == 0 => Lock::Unknown,
        Tail::Refused | Tail::Unknown => Lock::Partly,
    })
}

fn tail(pages: &mut Pages<'_, '_>, layout: Option<Layout>, head: Head) -> Result<Tail, Fault> {
    let Some(Layout { locks, all, last }) = layout else {
        return Ok(Tail::Unknown);
    };
    let Some(locks) = locks else {
        return Ok(Tail::Read {
            bits: 0,
            all,
            auth0: u8::MAX,
            last,
        });
    };
    let tail = match pages.four(locks, ": locks and password")? {
        Ok(tail) => tail,
        Err(Refused::Locked) => return Ok(Tail::Refused),
        Err(Refused::Unreadable) => return Ok(Tail::Unknown),
    };
    let [dynamic0, dynamic1, _, _, config @ ..] = tail;
    // The chip continued with its first page, so the configuration is behind the password's page.
    let auth0 = if config.starts_with(&head.first_page) {
        u8::MAX
    } else {
        config[3]
    };
    Ok(Tail::Read {
        bits: u16::from_le_bytes([dynamic0, dynamic1]) & all,
        all,
        auth0,
        last,
    })
}
