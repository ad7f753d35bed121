//! Who may write a Type 2 chip. It depends on the lock bits of its first pages, the lock bits for
//! later pages, the first page that needs a password, and the capability container, which only
//! phones respect.
//!
//! Sources: data sheets NTAG213/215/216 rev 3.2, sections 8.5.2, 8.5.3 and 8.5.7; MF0ICU1, section
//! 7.5.2; `MF0ULx1` and NTAG210/212, section 8.5.

use super::{FIRST_PAGE, Head, READ, ULTRALIGHT_END, ULTRALIGHT_SIZE};
use crate::technology::ntag21x::Memory;
use crate::technology::{Access, Technology};

/// Positions of a chip's lock information behind its data area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockLayout {
    /// The page before the first configuration page. It holds the dynamic lock bytes, if the chip
    /// has any. `None` for a chip without settings.
    page: Option<u8>,
    /// The dynamic lock bits that exist.
    all: u16,
    /// The last page of the data area.
    last: u8,
}

/// The lock information behind the data area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The chip answered with its lock pages.
    Read {
        /// Lock bits of the pages from 16 on.
        bits: u16,
        /// The bits that exist.
        all: u16,
        /// The first page that needs a password.
        auth0: u8,
        /// The last page of the data area.
        last: u8,
    },
    /// Reading it needs a password.
    Refused,
    /// Its position is not known, or it cannot be read.
    Unknown,
}

impl LockLayout {
    /// The layout of a chip; `None` if unknown. `size` is that of the capability container.
    /// `by_memory` says that the memory ends like that of the simplest chip of its name.
    pub fn of(technology: Technology, size: u8, by_memory: bool) -> Option<Self> {
        if let Some(memory) = Memory::of(technology) {
            let [low, high, _] = memory.all_locks;
            return Some(Self {
                page: Some(memory.locks),
                all: u16::from_le_bytes([low, high]),
                last: memory.last_data_page(),
            });
        }
        let page = match technology {
            Technology::Ultralight if by_memory => None,
            // `MF0UL11` and NTAG210.
            Technology::Ultralight | Technology::Ntag210 if size == ULTRALIGHT_SIZE => {
                Some(ULTRALIGHT_END)
            }
            _ => return None,
        };
        Some(Self {
            page,
            all: 0,
            last: ULTRALIGHT_END,
        })
    }

    /// The first of the four pages to read; `None` for a chip without settings.
    pub fn page(self) -> Option<u8> {
        self.page
    }

    /// The information of a chip without settings.
    pub fn without_settings(self) -> Tail {
        Tail::Read {
            bits: 0,
            all: self.all,
            auth0: u8::MAX,
            last: self.last,
        }
    }

    /// The information in the four pages from [`page`](Self::page) on. `head` is that of the same
    /// chip.
    pub fn read(self, pages: [u8; READ], head: &Head) -> Tail {
        let [dynamic0, dynamic1, _, _, config @ ..] = pages;
        // The chip continued with its first page, so the configuration is behind the password's page.
        let auth0 = if config.starts_with(&head.first_page) {
            u8::MAX
        } else {
            config[3]
        };
        Tail::Read {
            bits: u16::from_le_bytes([dynamic0, dynamic1]) & self.all,
            all: self.all,
            auth0,
            last: self.last,
        }
    }
}

/// Who may write to the chip. `is_protected` says that its data cannot be read without a password,
/// and so cannot be written either.
pub fn access(head: &Head, tail: Tail, is_protected: bool) -> Access {
    let first = u16::from_be_bytes([head.locks[0] & 0xF0, head.locks[1]]);
    let marked = head.container.map_or(0, |container| container.access) & 0x0F == 0x0F;
    match tail {
        Tail::Read { bits, all, .. } if first == 0xF0FF && bits == all => Access::Locked,
        Tail::Read { auth0, .. } if auth0 <= FIRST_PAGE => Access::Key,
        Tail::Read {
            bits, auth0, last, ..
        } if first != 0 || bits != 0 || auth0 <= last => Access::Partly,
        Tail::Read { .. } if marked => Access::Marked,
        Tail::Read { .. } => Access::Open,
        Tail::Refused | Tail::Unknown if is_protected => Access::Key,
        Tail::Unknown if first == 0 => Access::Unknown,
        Tail::Refused | Tail::Unknown => Access::Partly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four pages of a new NTAG215 (data sheet rev 3.2, section 8.5.6).
    const HEAD: [u8; READ] = [
        0x04, 0xF4, 0x37, 0x4F, 0xC2, 0x99, 0x3C, 0x80, 0xE7, 0x48, 0, 0, 0xE1, 0x10, 0x3E, 0,
    ];

    fn of(change: impl FnOnce(&mut [u8; READ]), tail: [u8; READ]) -> Access {
        let mut bytes = HEAD;
        change(&mut bytes);
        let head = Head::parse(bytes);
        let layout = LockLayout::of(Technology::Ntag215, 0x3E, true).unwrap();
        access(&head, layout.read(tail, &head), false)
    }

    #[test]
    fn each_lock_of_a_chip_shows() {
        let tail = |lock: u8, auth0: u8| {
            [
                lock, 0, 0, 0xBD, 4, 0, 0, auth0, 0, 5, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF,
            ]
        };
        assert_eq!(of(|_| {}, tail(0, 0xFF)), Access::Open);
        assert_eq!(of(|head| head[15] = 0x0F, tail(0, 0xFF)), Access::Marked);
        assert_eq!(of(|head| head[10] = 0x10, tail(0, 0xFF)), Access::Partly);
        assert_eq!(of(|_| {}, tail(0x01, 0xFF)), Access::Partly);
        assert_eq!(of(|_| {}, tail(0, 0x81)), Access::Partly);
        assert_eq!(of(|_| {}, tail(0, 0x82)), Access::Open);
        assert_eq!(of(|_| {}, tail(0, 0x04)), Access::Key);
        let locked = |head: &mut [u8; READ]| head[10..12].fill(0xFF);
        assert_eq!(of(locked, tail(0xFF, 0xFF)), Access::Locked);
    }

    #[test]
    fn without_the_last_pages_only_the_first_ones_count() {
        let head = Head::parse(HEAD);
        assert_eq!(access(&head, Tail::Unknown, false), Access::Unknown);
        assert_eq!(access(&head, Tail::Refused, false), Access::Partly);
        assert_eq!(access(&head, Tail::Refused, true), Access::Key);
    }

    #[test]
    fn an_ultralight_has_settings_only_in_its_later_kinds() {
        let layout = |by_memory| LockLayout::of(Technology::Ultralight, ULTRALIGHT_SIZE, by_memory);
        assert_eq!(layout(true).unwrap().page(), None);
        assert_eq!(layout(false).unwrap().page(), Some(ULTRALIGHT_END));
        assert_eq!(LockLayout::of(Technology::Ntag212, 0x10, false), None);
    }
}
