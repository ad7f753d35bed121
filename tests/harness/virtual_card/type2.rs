//! Type 2 chips: pages of four bytes, as a PC/SC reader reads (`FF B0`) and writes them
//! (`FF D6`; PC/SC part 3, sections 3.2.2.1.8 and 3.2.2.1.9). Sections are those of the data
//! sheet NTAG213/215/216 rev 3.2.

mod access;

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::technology::ntag21x::MirrorConfig;

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
    /// `CFG0`, whose last byte is `AUTH0`; `CFG1`, password and its answer follow.
    config: usize,
}

/// `ACCESS` in `CFG1`: reading needs the password, too.
const PROT: u8 = 0x80;
/// The configuration is locked for ever.
const CFGLCK: u8 = 0x40;
/// The counter counts.
const NFC_CNT_EN: u8 = 0x10;
/// `Lock Control TLV` of a new NTAG213 (section 8.5.6).
const LOCK_CONTROL: [u8; 5] = [0x01, 0x03, 0xA0, 0x0C, 0x34];

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

/// How the reader below a chip passes on commands that PC/SC has none for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassesOn {
    /// In a transparent session (PC/SC part 3, supplemental document 2.02.00).
    InSession,
    /// By the controller's `InCommunicateThru` (ACR122U API 2.04).
    ByController,
}

/// A Type 2 chip.
#[derive(Clone)]
pub struct VirtualType2 {
    /// Its UID.
    pub uid: [u8; 7],
    chip: Type2Chip,
    memory: Vec<u8>,
    /// Reads, counted where `NFC_CNT_EN` says so: one in an activation.
    counter: u32,
    /// Pages that were written.
    writes: u32,
    /// What it answers to `READ_SIG` (section 10.8), and how its reader lets it hear that.
    signature: Option<([u8; 32], PassesOn)>,
    /// Whether the reader is in a transparent session.
    pub in_session: bool,
    field: Option<Field>,
}

/// What the chip took over when it came into the field: a changed configuration holds
/// from the next activation on (section 8.5.7).
#[derive(Clone)]
struct Field {
    /// `CFG0` and `CFG1`.
    config: [[u8; 4]; 2],
    /// Whether this activation's read was counted.
    counted: bool,
}

impl VirtualType2 {
    /// A new chip, formatted and blank.
    pub fn blank(chip: Type2Chip, uid: [u8; 7]) -> Self {
        let mut memory = vec![0; chip.pages() * 4];
        memory[..3].copy_from_slice(&uid[..3]);
        memory[3] = 0x88 ^ uid[0] ^ uid[1] ^ uid[2];
        memory[4..8].copy_from_slice(&uid[3..]);
        memory[8] = uid[3] ^ uid[4] ^ uid[5] ^ uid[6];
        memory[9] = 0x48;
        memory[12..16].copy_from_slice(&[0xE1, 0x10, chip.size(), 0x00]);
        memory[16..19].copy_from_slice(&[0x03, 0x00, 0xFE]);
        if let Some(Config { config, .. }) = chip.config() {
            // As delivered: no password from any page on.
            memory[config * 4..][..8].copy_from_slice(&[0x04, 0, 0, 0xFF, 0, 0x05, 0, 0]);
            memory[(config + 2) * 4..][..4].fill(0xFF);
        }
        Self {
            uid,
            chip,
            memory,
            counter: 0,
            writes: 0,
            signature: None,
            in_session: false,
            field: None,
        }
    }

    /// A chip as it leaves the factory: an NTAG213 says first where its lock bytes are.
    pub fn factory(chip: Type2Chip, uid: [u8; 7]) -> Self {
        let mut card = Self::blank(chip, uid);
        if chip == Type2Chip::Ntag213 {
            card.write(&[&LOCK_CONTROL[..], &[0x03, 0x00, 0xFE]].concat());
        }
        card
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
    ///
    /// # Panics
    /// When the chip has no passwords.
    #[must_use]
    pub fn protect_from(mut self, page: u8) -> Self {
        let config = self.chip.config().expect("an NTAG").config;
        self.memory[(config + 1) * 4] |= PROT;
        self.password_from(page)
    }

    /// Answers as this chip with another chip's UID in its memory.
    #[must_use]
    pub fn with_memory_of(mut self, uid: [u8; 7]) -> Self {
        self.memory[..3].copy_from_slice(&uid[..3]);
        self.memory[4..8].copy_from_slice(&uid[3..]);
        self
    }

    /// Has this signature, on a reader that passes `READ_SIG` on.
    #[must_use]
    pub fn with_signature(mut self, signature: [u8; 32], passes_on: PassesOn) -> Self {
        self.signature = Some((signature, passes_on));
        self
    }

    /// The reader's commands by which `READ_SIG` gets through to the chip.
    fn passed_on(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let (signature, passes_on) = self.signature?;
        // Objects C0: no error; 92: whole bytes; 96: the chip's state.
        let done = [0xC0, 0x03, 0x00, 0x90, 0x00];
        match (passes_on, command) {
            (
                PassesOn::InSession,
                [
                    0xFF,
                    0xC2,
                    0x00,
                    0x00,
                    0x02,
                    what @ (0x81 | 0x82),
                    0x00,
                    0x00,
                ],
            ) => {
                self.in_session = *what == 0x81;
                Some(answer(&done, 0x9000))
            }
            (PassesOn::InSession, [0xFF, 0xC2, 0x00, 0x01, 0x04, 0x95, 0x02, 0x3C, 0x00, 0x00])
                if self.in_session =>
            {
                let state = [0x92, 0x01, 0x00, 0x96, 0x02, 0x00, 0x00, 0x97, 0x20];
                Some(answer(&[&done[..], &state, &signature].concat(), 0x9000))
            }
            (PassesOn::ByController, [0xFF, 0x00, 0x00, 0x00, 0x04, 0xD4, 0x42, 0x3C, 0x00]) => {
                Some(answer(
                    &[&[0xD5, 0x43, 0x00][..], &signature].concat(),
                    0x9000,
                ))
            }
            _ => None,
        }
    }

    /// A page as it was written.
    pub fn page(&self, page: usize) -> &[u8] {
        &self.memory[page * 4..][..4]
    }

    /// The reads it counted.
    pub fn counter(&self) -> u32 {
        self.counter
    }

    /// The pages that were written.
    pub fn writes(&self) -> u32 {
        self.writes
    }

    /// The URL that a phone reads; empty if there is no message, `?` if it is none of a URL.
    pub fn read_url(&mut self) -> String {
        let mut data = Vec::new();
        for page in (DATA..self.chip.pages() - 4).step_by(4) {
            let mut answer = self.read_pages(page, 16);
            answer.truncate(16);
            data.extend(answer);
        }
        let mut at = 0;
        while let Some(&[kind, length]) = data.get(at..at + 2).and_then(|two| two.first_chunk()) {
            let end = at + 2 + usize::from(length);
            match kind {
                0x00 => at += 1,
                0x03 if length == 0 => return String::new(),
                0x03 => return ndef::url(&data[at + 2..end]).unwrap_or_else(|| "?".to_owned()),
                0xFE => return String::new(),
                _ => at = end,
            }
        }
        String::new()
    }

    /// Its answer to a command, in process.
    pub fn apdu(&mut self, command: &[u8]) -> Vec<u8> {
        match *command {
            ref whole if *whole == GET_UID => answer(&self.uid, 0x9000),
            [0xFF, 0xB0, 0x00, page, length] => {
                self.read_pages(usize::from(page), usize::from(length))
            }
            [0xFF, 0xD6, 0x00, page, 0x04, a, b, c, d] => {
                status(self.write_page(usize::from(page), [a, b, c, d]))
            }
            [0xFF, 0xD6, ..] => status(0x6700),
            _ => self.passed_on(command).unwrap_or_else(|| status(0x6D00)),
        }
    }

    fn field(&mut self) -> &mut Field {
        let config = self.chip.config().map(|config| config.config * 4);
        self.field.get_or_insert_with(|| Field {
            config: config.map_or([[0, 0, 0, 0xFF], [0; 4]], |at| {
                std::array::from_fn(|page| {
                    std::array::from_fn(|byte| self.memory[at + page * 4 + byte])
                })
            }),
            counted: false,
        })
    }

    /// `READ`, sixteen bytes at most. The first of an activation counts.
    fn read_pages(&mut self, page: usize, length: usize) -> Vec<u8> {
        if length == 0 || length > 16 || page * 4 >= self.memory.len() {
            return status(0x6A82);
        }
        let last = self.chip.pages();
        let field = self.field();
        let [cfg0, cfg1] = field.config;
        let closed_from = match cfg1[0] & PROT {
            0 => last,
            _ => usize::from(cfg0[3]),
        };
        let counts = !field.counted && cfg1[0] & NFC_CNT_EN != 0;
        if page + length.div_ceil(4) > closed_from && closed_from < last {
            return status(0x6300);
        }
        field.counted = true;
        self.counter += u32::from(counts);
        let seen = self.seen(cfg0, cfg1);
        // A read past the last page goes on with the first.
        let bytes = seen.iter().cycle().skip(page * 4).take(length);
        answer(&bytes.copied().collect::<Vec<_>>(), 0x9000)
    }

    /// The memory as it is read: with its mirror, and without its password.
    fn seen(&self, cfg0: [u8; 4], cfg1: [u8; 4]) -> Vec<u8> {
        let mut seen = self.memory.clone();
        let Some(Config { config, .. }) = self.chip.config() else {
            return seen;
        };
        let mirror = MirrorConfig::from_pages(cfg0, cfg1);
        let uid = Uid::from_bytes(self.uid);
        if let Some(written) = mirror.mirrored(uid, self.counter) {
            let data = written.over(&seen[DATA * 4..]);
            seen[DATA * 4..].copy_from_slice(&data);
        }
        seen[(config + 2) * 4..][..8].fill(0);
        seen
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

    fn power_on(&mut self) {
        self.field = None;
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        Some(self.apdu(command))
    }

    fn cut_off(&mut self, command: &[u8], received: usize) {
        if let [0xFF, 0xD6, 0x00, page, 0x04, ref data @ ..] = *command {
            let written = received.saturating_sub(5).min(data.len());
            self.tear_page(usize::from(page), &data[..written]);
        }
        self.field = None;
    }
}
