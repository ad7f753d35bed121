//! The memory layout of an NTAG 213, 215 or 216 (data sheet sections 8.5.1 to 8.5.7).

use crate::technology::Technology;
use crate::technology::type2::FIRST_PAGE;

/// The layout of a chip's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Pages of the data area, which begins at page 4.
    pub data_pages: u8,
    /// The size of the data area in the capability container, in units of 8 bytes. It can be
    /// smaller than the area.
    pub size: u8,
    /// The page of the dynamic lock bytes. The two configuration pages follow it.
    pub locks: u8,
    /// The dynamic lock bytes with every bit set that exists.
    pub all_locks: [u8; 3],
    /// The bytes before the message in a new chip. An NTAG 213 states the position of its lock
    /// bytes there.
    pub before: &'static [u8],
}

impl Memory {
    /// The layout of a technology; `None` if it is another kind of chip.
    pub const fn of(technology: Technology) -> Option<Self> {
        Some(match technology {
            Technology::Ntag213 => Self {
                data_pages: 36,
                size: 0x12,
                locks: 0x28,
                all_locks: [0xFF, 0x0F, 0x3F],
                before: &[0x01, 0x03, 0xA0, 0x0C, 0x34],
            },
            Technology::Ntag215 => Self {
                data_pages: 126,
                size: 0x3E,
                locks: 0x82,
                all_locks: [0xFF, 0x00, 0x0F],
                before: &[],
            },
            Technology::Ntag216 => Self {
                data_pages: 222,
                size: 0x6D,
                locks: 0xE2,
                all_locks: [0xFF, 0x3F, 0x7F],
                before: &[],
            },
            _ => return None,
        })
    }

    /// The last page of the data area.
    pub const fn last_data_page(self) -> u8 {
        FIRST_PAGE + self.data_pages - 1
    }

    /// The last page of the chip. Dynamic lock bytes, two configuration pages, the password and its
    /// answer follow the data area; they are the last pages. Other chips of the same size have
    /// fewer pages (NTAG 203, Ultralight C) or more of them (NTAG 213 TT, NTAG 223 DNA, NTAG I2C).
    pub const fn last_page(self) -> u8 {
        self.locks + 4
    }

    /// The technology whose capability container states this size. Other chips may state it, too.
    pub fn by_size(size: u8) -> Option<Technology> {
        let known = [
            Technology::Ntag213,
            Technology::Ntag215,
            Technology::Ntag216,
        ];
        let mut known = known.into_iter();
        known.find(|one| Self::of(*one).is_some_and(|memory| memory.size == size))
    }
}
