//! Kinds of Type 2 chips: their memory and their version.

/// Kinds of Type 2 chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type2Chip {
    /// 144 bytes of data.
    Ntag213,
    /// 504 bytes, of which the capability container states 496.
    Ntag215,
    /// 888 bytes, of which the capability container states 872.
    Ntag216,
    /// 48 bytes of data, without settings.
    Ultralight,
    /// 144 bytes; its memory ends with page 41, a one-way counter.
    Ntag203,
    /// 144 bytes, followed by a counter, settings and a key that cannot be read.
    UltralightC,
    /// 48 bytes, and settings (`MF0UL11`).
    UltralightEv1,
    /// 128 bytes, and settings (`MF0UL21`).
    UltralightEv1Large,
    /// 48 bytes, and settings.
    Ntag210,
    /// 128 bytes, and settings.
    Ntag212,
    /// 144 bytes, and a page more than an NTAG213, for the message of its tamper loop.
    Ntag213Tt,
    /// 144 bytes, and a key after its settings that cannot be read.
    Ntag223Dna,
    /// 208 bytes, and a key after its settings that cannot be read.
    Ntag224Dna,
    /// 144 bytes, of Silicon Craft: the first byte of its UID is 39.
    Sic43Nt,
}

impl Type2Chip {
    /// The number of pages, and how many of them can be read (data sheets NTAG213/215/216 rev 3.2
    /// section 8.5, MF0ICU1 section 7.5, NTAG203 rev 3.2 section 8.5, MF0ICU2 rev 3.2 section 7.5,
    /// `MF0ULx1` rev 3.3 section 8.5, NTAG210/212 rev 3.0 section 8.5; NTAG 22x: page lists of
    /// public tools).
    pub(super) fn pages(self) -> (usize, usize) {
        let (all, keys) = match self {
            Self::Ntag213 => (45, 0),
            Self::Ntag215 => (135, 0),
            Self::Ntag216 => (231, 0),
            Self::Ultralight => (16, 0),
            Self::Ntag203 => (42, 0),
            Self::UltralightC => (48, 4),
            Self::UltralightEv1 | Self::Ntag210 => (20, 0),
            Self::UltralightEv1Large | Self::Ntag212 => (41, 0),
            Self::Ntag213Tt => (46, 0),
            Self::Ntag223Dna | Self::Sic43Nt => (60, 8),
            Self::Ntag224Dna => (76, 8),
        };
        (all, all - keys)
    }

    /// The capability container's size of the data area, in units of 8 bytes.
    pub(super) fn size(self) -> u8 {
        match self {
            Self::Ntag215 => 0x3E,
            Self::Ntag216 => 0x6D,
            Self::Ultralight | Self::UltralightEv1 | Self::Ntag210 => 0x06,
            Self::UltralightEv1Large | Self::Ntag212 => 0x10,
            Self::Ntag224Dna => 0x1A,
            _ => 0x12,
        }
    }

    /// The answer to `GET_VERSION`; `None` if the chip does not know the command.
    pub(super) fn version(self) -> Option<[u8; 8]> {
        let [kind, subtype, major, size] = match self {
            Self::Ntag203 | Self::UltralightC | Self::Ultralight | Self::Sic43Nt => return None,
            Self::Ntag213 => [0x04, 0x02, 0x01, 0x0F],
            Self::Ntag215 => [0x04, 0x02, 0x01, 0x11],
            Self::Ntag216 => [0x04, 0x02, 0x01, 0x13],
            Self::UltralightEv1 => [0x03, 0x01, 0x01, 0x0B],
            Self::UltralightEv1Large => [0x03, 0x01, 0x01, 0x0E],
            Self::Ntag210 => [0x04, 0x01, 0x01, 0x0B],
            Self::Ntag212 => [0x04, 0x01, 0x01, 0x0E],
            Self::Ntag213Tt => [0x04, 0x02, 0x03, 0x0F],
            Self::Ntag223Dna => [0x04, 0x02, 0x04, 0x0F],
            Self::Ntag224Dna => [0x04, 0x02, 0x05, 0x10],
        };
        Some([0x00, 0x04, kind, subtype, major, 0x00, size, 0x03])
    }
}

/// Positions of a chip's lock information.
pub(super) struct Config {
    /// The page of the dynamic lock bytes, and a mask of the bits that exist.
    pub(super) locks: (usize, [u8; 2]),
    /// `CFG0`, whose last byte is `AUTH0`; `CFG1`, the password and its acknowledgement follow.
    pub(super) config: usize,
}

impl Type2Chip {
    /// The positions; data sheet NTAG213/215/216 rev 3.2, sections 8.5.3 and 8.5.7.
    pub(super) fn config(self) -> Option<Config> {
        let (locks, bits) = match self {
            Self::Ntag213 => (0x28, [0xFF, 0x0F]),
            Self::Ntag215 => (0x82, [0xFF, 0x00]),
            Self::Ntag216 => (0xE2, [0xFF, 0x3F]),
            _ => return None,
        };
        Some(Config {
            locks: (locks, bits),
            config: locks + 1,
        })
    }
}
