//! Type 2 chips: pages of four bytes, as a PC/SC reader shows them (`FF B0`).

use super::{GET_UID, VirtualCard, answer, ndef, status};

/// Where the data begins, in pages.
const DATA: usize = 4;

/// Which Type 2 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type2Chip {
    /// 144 bytes of data.
    Ntag213,
    /// 504 bytes, of which the capability container states 496.
    Ntag215,
    /// 888 bytes, of which the capability container states 872.
    Ntag216,
    /// 48 bytes.
    Ultralight,
}

impl Type2Chip {
    /// Pages in all (data sheets NTAG213/215/216 rev 3.2 section 8.5, MF0ICU1 section 7.5).
    fn pages(self) -> usize {
        match self {
            Self::Ntag213 => 45,
            Self::Ntag215 => 135,
            Self::Ntag216 => 231,
            Self::Ultralight => 16,
        }
    }

    /// The capability container's size of the data area, in units of 8 bytes.
    fn size(self) -> u8 {
        match self {
            Self::Ntag213 => 0x12,
            Self::Ntag215 => 0x3E,
            Self::Ntag216 => 0x6D,
            Self::Ultralight => 0x06,
        }
    }
}

/// Where a chip keeps what says who may write it.
struct Config {
    /// The page of the dynamic lock bytes, and the bits of them that exist.
    locks: (usize, [u8; 2]),
    /// `CFG0`, whose last byte is `AUTH0`; `CFG1` follows it.
    config: usize,
}

impl Type2Chip {
    /// Data sheet NTAG213/215/216 rev 3.2, sections 8.5.3 and 8.5.7.
    fn config(self) -> Option<Config> {
        let (locks, bits) = match self {
            Self::Ntag213 => (0x28, [0xFF, 0x0F]),
            Self::Ntag215 => (0x82, [0xFF, 0x00]),
            Self::Ntag216 => (0xE2, [0xFF, 0x3F]),
            Self::Ultralight => return None,
        };
        Some(Config {
            locks: (locks, bits),
            config: locks + 1,
        })
    }
}

/// A Type 2 chip.
#[derive(Clone)]
pub struct VirtualType2 {
    /// Its UID.
    pub uid: [u8; 7],
    chip: Type2Chip,
    memory: Vec<u8>,
    /// The first page that cannot be read without the password (`AUTH0` with `PROT`).
    protected_from: usize,
}

impl VirtualType2 {
    /// A new chip, formatted and blank.
    pub fn blank(chip: Type2Chip, uid: [u8; 7]) -> Self {
        let mut memory = vec![0; chip.pages() * 4];
        memory[..3].copy_from_slice(&uid[..3]);
        memory[3] = 0x88 ^ uid[0] ^ uid[1] ^ uid[2];
        memory[4..8].copy_from_slice(&uid[3..]);
        memory[8] = uid[3] ^ uid[4] ^ uid[5] ^ uid[6];
        memory[12..16].copy_from_slice(&[0xE1, 0x10, chip.size(), 0x00]);
        memory[16..19].copy_from_slice(&[0x03, 0x00, 0xFE]);
        if let Some(Config { config, .. }) = chip.config() {
            // As delivered: no password from any page on.
            memory[config * 4..][..8].copy_from_slice(&[0x04, 0, 0, 0xFF, 0, 0x05, 0, 0]);
        }
        Self {
            uid,
            chip,
            memory,
            protected_from: usize::MAX,
        }
    }

    /// A chip with a URL.
    pub fn with_url(chip: Type2Chip, uid: [u8; 7], url: &str) -> Self {
        let mut card = Self::blank(chip, uid);
        card.write(&tlv(&ndef::uri(url)));
        card
    }

    /// Writes the data area from its beginning.
    ///
    /// # Panics
    /// When it does not fit.
    pub fn write(&mut self, data: &[u8]) {
        self.memory[DATA * 4..][..data.len()].copy_from_slice(data);
    }

    /// Locks every page against writing, forever.
    #[must_use]
    pub fn lock(mut self) -> Self {
        if let Some(Config { locks, .. }) = self.chip.config() {
            self.memory[locks.0 * 4..][..2].copy_from_slice(&locks.1);
        }
        self.lock_first_pages().mark_read_only()
    }

    /// Locks the pages up to 15, and none of those behind them.
    #[must_use]
    pub fn lock_first_pages(mut self) -> Self {
        self.memory[10] = 0xFF;
        self.memory[11] = 0xFF;
        self
    }

    /// Says in the capability container that it cannot be written, and locks nothing.
    #[must_use]
    pub fn mark_read_only(mut self) -> Self {
        self.memory[15] = 0x0F;
        self
    }

    /// Wants a password for writing pages from this one on (`AUTH0`).
    ///
    /// # Panics
    /// When the chip has no passwords.
    #[must_use]
    pub fn password_from(mut self, page: u8) -> Self {
        let config = self.chip.config().expect("an NTAG").config;
        self.memory[config * 4 + 3] = page;
        self
    }

    /// Keeps pages from this one on from being read or written without a password.
    #[must_use]
    pub fn protect_from(mut self, page: u8) -> Self {
        self.protected_from = usize::from(page);
        self.password_from(page)
    }

    /// Answers as this chip with another chip's UID in its memory.
    #[must_use]
    pub fn with_memory_of(mut self, uid: [u8; 7]) -> Self {
        self.memory[..3].copy_from_slice(&uid[..3]);
        self.memory[4..8].copy_from_slice(&uid[3..]);
        self
    }
}

/// A message as it stands in a Type 2 chip's data: TLV blocks, the terminator last.
pub fn tlv(message: &[u8]) -> Vec<u8> {
    let mut data = vec![0x03];
    match u8::try_from(message.len()) {
        Ok(length) if length < 0xFF => data.push(length),
        _ => {
            let length =
                u16::try_from(message.len()).expect("a message has fewer than 65536 bytes");
            data.push(0xFF);
            data.extend_from_slice(&length.to_be_bytes());
        }
    }
    data.extend_from_slice(message);
    data.push(0xFE);
    data
}

impl VirtualCard for VirtualType2 {
    fn atr(&self) -> Vec<u8> {
        // PC/SC part 3: ISO 14443 A, part 3, MIFARE Ultralight. NTAGs have the same.
        vec![
            0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00,
            0x03, 0x00, 0x00, 0x00, 0x00, 0x68,
        ]
    }

    fn power_on(&mut self) {}

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        Some(match *command {
            ref whole if *whole == GET_UID => answer(&self.uid, 0x9000),
            [0xFF, 0xB0, 0x00, page, length] => {
                let (page, length) = (usize::from(page), usize::from(length));
                if length == 0 || length > 16 || page * 4 >= self.memory.len() {
                    return Some(status(0x6A82));
                }
                if page + length.div_ceil(4) > self.protected_from {
                    return Some(status(0x6300));
                }
                // A read past the last page goes on with the first.
                let bytes = self.memory.iter().cycle().skip(page * 4).take(length);
                answer(&bytes.copied().collect::<Vec<_>>(), 0x9000)
            }
            _ => status(0x6D00),
        })
    }
}
