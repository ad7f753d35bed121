//! An NTAG 424 DNA, command by command (data sheet `NT4H2421Gx` rev 3.0, section 10), with or
//! without a tamper loop (`NT4H2421Tx` rev 3.0).
//!
//! | Module | Subject |
//! |---|---|
//! | `authentication` | proofs of a key, and failure counters |
//! | `keys` | the five keys, their versions and failure counters |
//! | [`session`] | secure messaging, in AES and in LRP mode |
//! | `protection` | the communication mode of a command |
//! | `files`, [`settings`], `mirror` | three files, their access rights, and their mirrors |
//! | `configuration` | options that can be switched on, most of them permanently |
//! | `identity` | version, UID, originality signature |
//!
//! If the data sheet leaves something open, the decision is made here, and a comment says so.

mod authentication;
mod configuration;
mod dice;
mod files;
mod identity;
mod keys;
mod mirror;
mod protection;
pub mod session;
pub mod settings;

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;

pub use keys::Failures;
pub use session::Session;
pub use settings::{FREE, FileSettings, NEVER};

use self::authentication::Handshake;
use self::configuration::Configuration;
use self::dice::Dice;
use self::files::Files;
use self::identity::Identity;
use self::keys::Slot;
use super::{GET_UID, VirtualCard, status};

/// The answer to a command with its status word, or the error status.
type Answer = Result<Vec<u8>, u16>;

/// An NTAG 424 DNA in software.
#[derive(Clone)]
pub struct VirtualNtag424 {
    identity: Identity,
    keys: [Slot; 5],
    files: Files,
    configuration: Configuration,
    dice: Dice,
    tally: Tally,
    field: Field,
}

/// Events of the chip, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Commands that changed something permanently.
    pub writes: u32,
    /// Refused proofs of a key (`91AE`).
    pub refusals: u32,
}

/// State that the chip loses when it leaves the field.
#[derive(Clone, Default)]
struct Field {
    /// Whether the NDEF application is selected.
    application: bool,
    /// The file that ISO commands use.
    selected: Option<usize>,
    /// The NDEF file as mirrored for this run of reads.
    run: Option<Vec<u8>>,
    next: Next,
    session: Option<Session>,
    /// Answers with `91AD` in this activation: the part of a delay that has passed.
    delayed: u16,
}

/// The command that `AF` continues.
#[derive(Clone, Default)]
enum Next {
    #[default]
    Nothing,
    Version(u8),
    Authentication(Handshake),
}

impl VirtualNtag424 {
    /// A chip in factory state: keys of zeros, an empty message, no SDM.
    pub fn new(uid: Uid) -> Self {
        Self {
            identity: Identity::new(uid),
            keys: std::array::from_fn(|_| Slot::FACTORY),
            files: Files::factory(),
            configuration: Configuration::default(),
            dice: Dice::new(u64::from(uid.bytes()[6])),
            tally: Tally::default(),
            field: Field::default(),
        }
    }

    /// Sends a command in process, and returns the answer.
    pub fn apdu(&mut self, command: &[u8]) -> Vec<u8> {
        // Only consecutive reads are one run.
        if !matches!(command, [0x00, 0xB0, ..] | [0x90, 0xAD, ..]) {
            self.field.run = None;
        }
        let answer = match *command {
            ref whole if *whole == GET_UID => return self.shown_uid(),
            [0x90, ..] => self.native(command),
            [0x00, ..] => self.iso(command),
            _ => Err(0x6E00),
        };
        answer.unwrap_or_else(|refused| {
            // Section 9.1.9: any error ends the session.
            self.field.session = None;
            status(refused)
        })
    }

    /// A native command, wrapped: `90`, the command, `00 00`, `Lc` and data, `00`.
    fn native(&mut self, whole: &[u8]) -> Answer {
        let (command, data) = match *whole {
            [0x90, command, 0x00, 0x00, 0x00] => (command, &[][..]),
            [0x90, command, 0x00, 0x00, length, ref data @ .., 0x00]
                if usize::from(length) == data.len() =>
            {
                (command, data)
            }
            [0x90, _, 0x00, 0x00, ..] => return Err(0x917E),
            _ => return Err(0x919E),
        };
        match (command, std::mem::take(&mut self.field.next)) {
            (0xAF, Next::Version(part)) => Ok(self.version_part(part)),
            (0xAF, Next::Authentication(handshake)) => self.prove(&handshake, data),
            (0xAF, Next::Nothing) => Err(0x911C),
            // The previous command was not finished.
            (_, Next::Version(_) | Next::Authentication(_)) => Err(0x91CA),
            (0x60, _) => self.get_version(data),
            (0x3C, _) => self.read_signature(data),
            (command, _) if !self.field.application => Err(match command {
                0x71 | 0x77 | 0xF5 | 0xF6 | 0xF7 | 0x5F | 0x5C | 0xC4 | 0x64 | 0x51 | 0xAD
                | 0x8D => 0x919D,
                _ => 0x911C,
            }),
            (0x71, _) => self.authenticate_first(data),
            (0x77, _) => self.authenticate_non_first(data),
            (0x51, _) => self.get_card_uid(data),
            (0x64, _) => self.get_key_version(data),
            (0xC4, _) => self.change_key(data),
            (0x5C, _) => self.set_configuration(data),
            (0xF7, _) => self.get_tamper_status(data),
            (0xF5, _) => self.get_file_settings(data),
            (0x5F, _) => self.change_file_settings(data),
            (0xF6, _) => self.get_file_counters(data),
            (0xAD, _) => self.read_data(data),
            (0x8D, _) => self.write_data(data),
            _ => Err(0x911C),
        }
    }

    /// An ISO 7816-4 command (section 10.9). It aborts a command in progress.
    fn iso(&mut self, whole: &[u8]) -> Answer {
        self.field.next = Next::Nothing;
        let data = || {
            let length = usize::from(*whole.get(4)?);
            whole.get(5..5 + length)
        };
        match *whole {
            [0x00, 0xA4, how @ (0x00 | 0x04), ..] => {
                self.select(how == 0x04, data().ok_or(0x6700_u16)?)
            }
            [0x00, 0xB0, high @ 0x00..=0x7F, low, length] => {
                let length = match length {
                    0 => 256,
                    length => usize::from(length),
                };
                self.read_binary(usize::from(u16::from_be_bytes([high, low])), length)
            }
            [0x00, 0xD6, high @ 0x00..=0x7F, low, ..] => {
                let data = data().ok_or(0x6700_u16)?;
                self.update_binary(usize::from(u16::from_be_bytes([high, low])), data)
            }
            _ => Err(0x6D00),
        }
    }

    /// Continues a session that is in progress.
    pub fn resume(&mut self, session: Session) {
        self.field.application = true;
        self.field.session = Some(session);
    }

    /// The session, if one is authenticated.
    pub fn session(&self) -> Option<&Session> {
        self.field.session.as_ref()
    }

    /// The next random values of the chip, in place of its own randomness: `RndB` and `TI` of a
    /// published transcript, in order.
    pub fn draws_next(&mut self, random: &[u8]) {
        self.dice.next(random);
    }

    /// The events so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The number of the key that the session was authenticated with.
    fn authenticated(&self) -> Option<u8> {
        self.field.session.as_ref().map(|session| session.key)
    }

    /// The key in a slot of the chip.
    pub fn key(&self, number: u8) -> &AesKey {
        &self.keys[usize::from(number)].key
    }

    /// The version of the key in a slot.
    pub fn key_version(&self, number: u8) -> u8 {
        self.keys[usize::from(number)].version
    }
}

impl VirtualCard for VirtualNtag424 {
    fn atr(&self) -> Vec<u8> {
        vec![0x3B, 0x81, 0x80, 0x01, 0x80, 0x80]
    }

    fn power_on(&mut self) {
        self.field = Field::default();
        self.configuration.measure_loop();
        self.draw_shown_uid();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        Some(self.apdu(command))
    }

    fn cut_off(&mut self, command: &[u8], received: usize) {
        self.write_frames(command, received);
        self.field = Field::default();
    }
}
