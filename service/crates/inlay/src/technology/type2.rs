//! NFC Forum Type 2 tags: pages of four bytes. Which chip is on a reader, as far as it can be
//! identified, where its message is, and who may write it.
//!
//! The size in the capability container decides nothing: NTAG 203, NTAG 213, NTAG 213 TT, NTAG 223
//! DNA, Ultralight C and SIC43NT all state 144 bytes. The chips differ in the first byte of the
//! UID, in the last page of their memory, and in the answer to `GET_VERSION`.

mod block;
mod lock;

pub use block::{Block, MESSAGE, TERMINATOR};
pub use lock::{LockLayout, Tail, access};

use super::Technology;
use super::ntag21x::Memory;

/// Bytes of a page.
pub const PAGE: usize = 4;
/// Bytes of a read: four pages.
pub const READ: usize = 16;
/// The first page of the data area.
pub const FIRST_PAGE: u8 = 4;

/// The first byte of a UID of NXP (ISO/IEC 7816-6). Silicon Craft has 39.
pub const NXP: u8 = 0x04;
/// `GET_VERSION` (data sheet NTAG213/215/216 rev 3.2, section 10.1). NTAG 203, Ultralight and
/// Ultralight C do not know it, and stop answering.
pub const GET_VERSION: u8 = 0x60;
/// `READ_SIG` for the originality signature (data sheet NTAG213/215/216 rev 3.2, section 10.8).
pub const READ_SIGNATURE: [u8; 2] = [0x3C, 0x00];
/// Bytes of the answer to [`READ_SIGNATURE`]: two numbers of the curve secp128r1.
pub const SIGNATURE_LENGTH: usize = 32;

/// The size of an Ultralight's data area in units of 8 bytes, and the last page of an Ultralight
/// without settings (data sheet MF0ICU1, section 7.5).
const ULTRALIGHT_SIZE: u8 = 0x06;
const ULTRALIGHT_END: u8 = 0x0F;

/// The first four pages: UID, static lock bytes and capability container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The UID that the chip reports.
    pub uid: [u8; 7],
    /// Page 0: the beginning of the UID. A read past the end of the memory continues with it.
    pub first_page: [u8; PAGE],
    /// The lock bits of pages 3 to 15.
    pub locks: [u8; 2],
    /// The capability container; `None` if the chip was never formatted for messages.
    pub container: Option<Container>,
}

/// A capability container (Type 2 Tag 1.2, section 2.3), which is page 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    /// The size of the data area, in units of 8 bytes.
    pub size: u8,
    /// Who may read and write. Only phones respect it.
    pub access: u8,
}

impl Head {
    /// Parses the first four pages.
    pub fn parse(pages: [u8; READ]) -> Self {
        let [
            u0,
            u1,
            u2,
            bcc,
            u3,
            u4,
            u5,
            u6,
            _,
            _,
            lock0,
            lock1,
            magic,
            version,
            size,
            access,
        ] = pages;
        let is_formatted = magic == 0xE1 && version >> 4 == 1;
        Self {
            uid: [u0, u1, u2, u3, u4, u5, u6],
            first_page: [u0, u1, u2, bcc],
            locks: [lock0, lock1],
            container: is_formatted.then_some(Container { size, access }),
        }
    }
}

/// The chip whose capability container states this size, and the last page of its memory. Chips of
/// other makers, and chips with more or fewer pages, can state the same size.
pub fn by_size(size: u8) -> Option<(Technology, u8)> {
    match Memory::by_size(size) {
        Some(technology) => Some((technology, Memory::of(technology)?.last_page())),
        None if size == ULTRALIGHT_SIZE => Some((Technology::Ultralight, ULTRALIGHT_END)),
        None => None,
    }
}

/// Whether the size and the last page of its memory identify this chip, on any reader. Others are
/// identified by their version, which many readers do not ask for.
pub fn shows_its_kind(technology: Technology) -> bool {
    Memory::of(technology).is_some() || technology == Technology::Ultralight
}

/// The chip that gives this answer to `GET_VERSION`; `None` if it is not a known chip of inlays.
///
/// Sources: data sheets NTAG210/212 rev 3.0 table 14, NTAG213/215/216 rev 3.2 table 28,
/// NTAG213F/216F rev 3.4, NTAG213 TT rev 3.0, `MF0ULx1` rev 3.3 table 15; for NTAG 223 and 224 DNA
/// the tables of public tools, because their data sheets are not public.
pub fn of_version(version: &[u8]) -> Option<Technology> {
    // Header, vendor NXP, type, subtype, major and minor version, size, protocol.
    let &[0x00, NXP, kind, subtype, major, minor, size, 0x03] = version else {
        return None;
    };
    Some(match (kind, subtype, major, minor, size) {
        // Ultralight EV1, Nano and AES: they write no values into their data.
        (0x03, ..) => Technology::Ultralight,
        (0x04, 0x01, 0x01, 0x00, 0x0B) => Technology::Ntag210,
        (0x04, 0x01, 0x01, 0x00, 0x0E) => Technology::Ntag212,
        // Subtype 4 has field detection, too.
        (0x04, 0x02 | 0x04, 0x01, 0x00, 0x0F) => Technology::Ntag213,
        (0x04, 0x02, 0x01, 0x00, 0x11) => Technology::Ntag215,
        (0x04, 0x02 | 0x04, 0x01, 0x00, 0x13) => Technology::Ntag216,
        (0x04, 0x02, 0x03, 0x00, 0x0F) => Technology::Ntag213Tt,
        // Subtype 8 has StatusDetect, too.
        (0x04, 0x02 | 0x08, 0x04, 0x00, 0x0F) => Technology::Ntag223Dna,
        (0x04, 0x02 | 0x08, 0x05, 0x00, 0x10) => Technology::Ntag224Dna,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_one_chip_or_none() {
        for (version, chip) in [
            ([0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0B, 0x03], "ntag210"),
            ([0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0E, 0x03], "ntag212"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03], "ntag213"),
            ([0x00, 0x04, 0x04, 0x04, 0x01, 0x00, 0x0F, 0x03], "ntag213"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03], "ntag215"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x13, 0x03], "ntag216"),
            (
                [0x00, 0x04, 0x04, 0x02, 0x03, 0x00, 0x0F, 0x03],
                "ntag213tt",
            ),
            (
                [0x00, 0x04, 0x04, 0x02, 0x04, 0x00, 0x0F, 0x03],
                "ntag223dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x08, 0x04, 0x00, 0x0F, 0x03],
                "ntag223dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x02, 0x05, 0x00, 0x10, 0x03],
                "ntag224dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x08, 0x05, 0x00, 0x10, 0x03],
                "ntag224dna",
            ),
            (
                [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0B, 0x03],
                "ultralight",
            ),
            (
                [0x00, 0x04, 0x03, 0x01, 0x04, 0x00, 0x0F, 0x03],
                "ultralight",
            ),
        ] {
            assert_eq!(of_version(&version).map(Technology::as_str), Some(chip));
        }
        for other in [
            // NTAG I2C, and its plus variant.
            &[0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x13, 0x03][..],
            &[0x00, 0x04, 0x04, 0x05, 0x02, 0x02, 0x13, 0x03],
            // Another maker.
            &[0x00, 0x53, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03],
            &[0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F],
            &[],
        ] {
            assert_eq!(of_version(other), None, "{other:02X?}");
        }
    }

    #[test]
    fn the_chips_that_show_their_kind_are_those_that_a_size_belongs_to() {
        let found: Vec<_> = (0..=u8::MAX).filter_map(by_size).collect();
        for chip in Technology::ALL {
            let has_size = found.iter().any(|(one, _)| *one == chip);
            assert_eq!(has_size, shows_its_kind(chip), "{chip}");
        }
    }
}
