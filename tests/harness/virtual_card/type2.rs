//! Type 2 chips: pages of four bytes, as a PC/SC reader reads (`FF B0`) and writes them
//! (`FF D6`; PC/SC part 3, sections 3.2.2.1.8 and 3.2.2.1.9). Sections are those of the data
//! sheet NTAG213/215/216 rev 3.2.

mod access;
mod chip;
mod passes_on;

use std::sync::{Arc, Mutex, PoisonError};

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::technology::ntag21x::MirrorConfig;

use super::{GET_UID, VirtualCard, answer, ndef, status};
use chip::Config;
pub use chip::Type2Chip;
pub use passes_on::PassesOn;

/// The first page of the data area.
const DATA: usize = 4;

/// `ACCESS` in `CFG1`: reading needs the password as well.
const PROT: u8 = 0x80;
/// `ACCESS`: the configuration is locked permanently.
const CFGLCK: u8 = 0x40;
/// `ACCESS`: how many wrong passwords lock the protected pages permanently; 0 is no limit.
const AUTHLIM: u8 = 0x07;
/// `ACCESS`: the read counter is on.
const NFC_CNT_EN: u8 = 0x10;
/// `Lock Control TLV` of a new NTAG213 (section 8.5.6).
const LOCK_CONTROL: [u8; 5] = [0x01, 0x03, 0xA0, 0x0C, 0x34];
/// The same of a new NTAG203.
const LOCK_CONTROL_203: [u8; 5] = [0x01, 0x03, 0xA0, 0x10, 0x44];
/// The status of readers for a `NAK` of the chip, and for no answer.
const REFUSED: u16 = 0x6300;

/// A Type 2 chip in software.
#[derive(Clone)]
pub struct VirtualType2 {
    /// The UID in its memory.
    pub uid: [u8; 7],
    chip: Type2Chip,
    memory: Vec<u8>,
    /// The read counter, if `NFC_CNT_EN` is set: at most one read per activation counts.
    counter: u32,
    /// The number of pages that were written.
    writes: u32,
    /// The answer to `READ_SIG` (section 10.8).
    signature: Option<[u8; 32]>,
    /// How its reader passes commands on; `None` if it does not.
    passes_on: Option<PassesOn>,
    /// Whether it got an unknown command, and so answers nothing until its next activation.
    silent: bool,
    /// Whether the reader is in a transparent session.
    pub in_session: bool,
    /// Wrong passwords since the last right one, which the chip counts if `AUTHLIM` is not 0.
    wrong_passwords: u8,
    /// The commands for beep and light that its reader got.
    signals: Signals,
    field: Option<Field>,
}

/// The commands for beep and light that a reader got, in their order.
#[derive(Clone, Default)]
pub struct Signals(Arc<Mutex<Vec<Vec<u8>>>>);

impl Signals {
    /// All commands so far.
    pub fn all(&self) -> Vec<Vec<u8>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note(&self, command: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(command.to_vec());
    }
}

/// The configuration that the chip loaded when it entered the field: a change takes effect at the
/// next activation (section 8.5.7).
#[derive(Clone)]
struct Field {
    /// `CFG0` and `CFG1`.
    config: [[u8; 4]; 2],
    /// Whether a read was counted in this activation.
    counted: bool,
    /// Whether the password was proved in this activation.
    authenticated: bool,
}

impl VirtualType2 {
    /// A new chip, formatted and blank.
    pub fn blank(chip: Type2Chip, uid: [u8; 7]) -> Self {
        let mut memory = vec![0; chip.pages().0 * 4];
        memory[..3].copy_from_slice(&uid[..3]);
        memory[3] = 0x88 ^ uid[0] ^ uid[1] ^ uid[2];
        memory[4..8].copy_from_slice(&uid[3..]);
        memory[8] = uid[3] ^ uid[4] ^ uid[5] ^ uid[6];
        memory[9] = 0x48;
        memory[12..16].copy_from_slice(&[0xE1, 0x10, chip.size(), 0x00]);
        memory[16..19].copy_from_slice(&[0x03, 0x00, 0xFE]);
        if let Some(Config { config, .. }) = chip.config() {
            // Factory default: no page needs a password.
            memory[config * 4..][..8].copy_from_slice(&[0x04, 0, 0, 0xFF, 0, 0x05, 0, 0]);
            memory[(config + 2) * 4..][..4].fill(0xFF);
        }
        // `AUTH0` of chips whose settings contain nothing else here.
        let auth0 = match chip {
            Type2Chip::UltralightEv1 | Type2Chip::Ntag210 => Some((0x10, 3, 0xFF)),
            Type2Chip::UltralightEv1Large | Type2Chip::Ntag212 => Some((0x25, 3, 0xFF)),
            Type2Chip::UltralightC => Some((0x2A, 0, 0x30)),
            _ => None,
        };
        if let Some((page, byte, value)) = auth0 {
            memory[page * 4 + byte] = value;
        }
        Self {
            uid,
            chip,
            memory,
            counter: 0,
            writes: 0,
            signature: None,
            passes_on: None,
            silent: false,
            in_session: false,
            wrong_passwords: 0,
            signals: Signals::default(),
            field: None,
        }
    }

    /// A chip in factory state: an NTAG203 or 213 has a TLV with the position of its lock bytes.
    pub fn factory(chip: Type2Chip, uid: [u8; 7]) -> Self {
        let mut card = Self::blank(chip, uid);
        let locks: &[u8] = match chip {
            Type2Chip::Ntag213 => &LOCK_CONTROL,
            Type2Chip::Ntag203 => &LOCK_CONTROL_203,
            _ => &[],
        };
        card.write(&[locks, &[0x03, 0x00, 0xFE]].concat());
        card
    }

    /// A chip with a URL as its message.
    pub fn with_url(chip: Type2Chip, uid: [u8; 7], url: &str) -> Self {
        let mut card = Self::blank(chip, uid);
        card.write(&tlv(&ndef::uri(url)));
        card
    }

    /// Writes the beginning of the data area.
    ///
    /// # Panics
    /// When it does not fit.
    pub fn write(&mut self, data: &[u8]) {
        self.memory[DATA * 4..][..data.len()].copy_from_slice(data);
    }

    /// Locks every page permanently.
    #[must_use]
    pub fn lock(mut self) -> Self {
        if let Some(Config { locks, .. }) = self.chip.config() {
            self.memory[locks.0 * 4..][..2].copy_from_slice(&locks.1);
        }
        self.lock_first_pages().mark_read_only()
    }

    /// Locks the pages up to 15, and no later ones.
    #[must_use]
    pub fn lock_first_pages(mut self) -> Self {
        self.memory[10] = 0xFF;
        self.memory[11] = 0xFF;
        self
    }

    /// Marks it as read-only in the capability container, without locking anything.
    #[must_use]
    pub fn mark_read_only(mut self) -> Self {
        self.memory[15] = 0x0F;
        self
    }

    /// Requires a password to write pages from this one on (`AUTH0`).
    ///
    /// # Panics
    /// When the chip has no passwords.
    #[must_use]
    pub fn password_from(mut self, page: u8) -> Self {
        let config = self.chip.config().expect("an NTAG").config;
        self.memory[config * 4 + 3] = page;
        self
    }

    /// Requires a password to read or write pages from this one on.
    ///
    /// # Panics
    /// When the chip has no passwords.
    #[must_use]
    pub fn protect_from(mut self, page: u8) -> Self {
        let config = self.chip.config().expect("an NTAG").config;
        self.memory[(config + 1) * 4] |= PROT;
        self.password_from(page)
    }

    /// Keeps this chip's UID, with another UID in its memory.
    #[must_use]
    pub fn with_memory_of(mut self, uid: [u8; 7]) -> Self {
        self.memory[..3].copy_from_slice(&uid[..3]);
        self.memory[4..8].copy_from_slice(&uid[3..]);
        self
    }

    /// Sets the signature, on a reader that passes `READ_SIG` on.
    #[must_use]
    pub fn with_signature(mut self, signature: [u8; 32], passes_on: PassesOn) -> Self {
        self.signature = Some(signature);
        self.on_reader(passes_on)
    }

    /// Places it on a reader that passes commands on to it.
    #[must_use]
    pub fn on_reader(mut self, passes_on: PassesOn) -> Self {
        self.passes_on = Some(passes_on);
        self
    }

    /// The commands for beep and light that its reader gets; all copies of the chip share them.
    pub fn signals(&self) -> Signals {
        self.signals.clone()
    }

    /// Sets these bytes of a page, whatever the page means.
    #[must_use]
    pub fn with_page(mut self, page: usize, bytes: [u8; 4]) -> Self {
        self.memory[page * 4..][..4].copy_from_slice(&bytes);
        self
    }

    /// The content of a page, as it was written.
    pub fn page(&self, page: usize) -> &[u8] {
        &self.memory[page * 4..][..4]
    }

    /// The value of the read counter.
    pub fn counter(&self) -> u32 {
        self.counter
    }

    /// The number of pages that were written.
    pub fn writes(&self) -> u32 {
        self.writes
    }

    /// The URL that a phone reads; empty without a message, `?` if the message has no URL.
    pub fn read_url(&mut self) -> String {
        let mut data = Vec::new();
        for page in (DATA..self.chip.pages().0 - 4).step_by(4) {
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

    /// Sends a command in process, and returns the answer.
    pub fn apdu(&mut self, command: &[u8]) -> Vec<u8> {
        match *command {
            ref whole if *whole == GET_UID => answer(&self.uid, 0x9000),
            [0xFF, 0xB0 | 0xD6, ..] if self.silent => status(REFUSED),
            [0xFF, 0xB0, 0x00, page, length] => {
                self.read_pages(usize::from(page), usize::from(length))
            }
            [0xFF, 0xD6, 0x00, page, 0x04, a, b, c, d] => {
                status(self.write_page(usize::from(page), [a, b, c, d]))
            }
            [0xFF, 0xD6, ..] => status(0x6700),
            // An ACR122U has the same answer to each command that it does not know.
            _ => self.passed_on(command).unwrap_or_else(|| {
                let is_acr122 = self.passes_on == Some(PassesOn::ByController);
                status(if is_acr122 { REFUSED } else { 0x6D00 })
            }),
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
            authenticated: false,
        })
    }

    /// `PWD_AUTH` (section 10.7): the chip answers with its acknowledgement, or falls back to its
    /// idle state. Once it counted too many wrong passwords it accepts none, for ever.
    fn authenticate(&mut self, password: &[u8]) -> Option<Vec<u8>> {
        let config = self.chip.config()?.config;
        let limit = self.field().config[1][0] & AUTHLIM;
        let is_out = limit != 0 && self.wrong_passwords >= limit;
        if is_out || password != self.page(config + 2) {
            self.wrong_passwords += u8::from(limit != 0 && !is_out);
            return None;
        }
        self.wrong_passwords = 0;
        self.field().authenticated = true;
        Some(self.page(config + 3)[..2].to_vec())
    }

    /// `READ` of at most sixteen bytes. The first one of an activation counts.
    fn read_pages(&mut self, page: usize, length: usize) -> Vec<u8> {
        let (_, last) = self.chip.pages();
        if length == 0 || length > 16 {
            return status(0x6A82);
        }
        if page >= last {
            return status(REFUSED);
        }
        let field = self.field();
        let [cfg0, cfg1] = field.config;
        let closed_from = match cfg1[0] & PROT {
            0 => last,
            _ if field.authenticated => last,
            _ => usize::from(cfg0[3]),
        };
        let counts = !field.counted && cfg1[0] & NFC_CNT_EN != 0;
        if page + length.div_ceil(4) > closed_from && closed_from < last {
            return status(REFUSED);
        }
        field.counted = true;
        self.counter += u32::from(counts);
        let seen = self.seen(cfg0, cfg1);
        // A read past the last page continues with the first page.
        let bytes = seen[..last * 4].iter().cycle().skip(page * 4);
        let bytes = bytes.take(length);
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

/// A message in the form of a Type 2 chip's data: TLV blocks, with the terminator at the end.
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
        // PC/SC part 3: ISO 14443 A, part 3, MIFARE Ultralight. NTAGs have the same ATR.
        vec![
            0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00,
            0x03, 0x00, 0x00, 0x00, 0x00, 0x68,
        ]
    }

    fn power_on(&mut self) {
        self.field = None;
        self.silent = false;
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
