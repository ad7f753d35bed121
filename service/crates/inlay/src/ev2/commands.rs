//! The commands of personalisation (data sheet section 10).

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::Way;
use super::handshake::{FIRST, NON_FIRST};
use super::session::{Command, Protection, Reply};
use super::{KEY_0, Session, jam_crc, wrapped};
use crate::key::AesKey;
use crate::technology::type4::select_file;

/// Selects the one application of the chip, by its name.
pub const SELECT_APPLICATION: [u8; 13] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
];
/// Selects the NDEF file (E104h), without an answer of its description.
pub const SELECT_NDEF: [u8; 7] = select_file([0xE1, 0x04]);
/// The first of the three parts of `GetVersion`.
pub const GET_VERSION: [u8; 5] = [0x90, 0x60, 0x00, 0x00, 0x00];
/// The next part of an answer.
pub const MORE: [u8; 5] = [0x90, 0xAF, 0x00, 0x00, 0x00];
/// `Read_Sig`: the originality signature.
pub const READ_SIGNATURE: [u8; 7] = [0x90, 0x3C, 0x00, 0x00, 0x01, 0x00, 0x00];

const GET_KEY_VERSION: u8 = 0x64;
const GET_FILE_SETTINGS: u8 = 0xF5;
const GET_CARD_UID: u8 = 0x51;
const WRITE_DATA: u8 = 0x8D;
const CHANGE_KEY: u8 = 0xC4;
const CHANGE_FILE_SETTINGS: u8 = 0x5F;
const SET_CONFIGURATION: u8 = 0x5C;
/// The option of `SetConfiguration` that sets the chip's mode, and its data for LRP: `PDCap2.1` is
/// the fifth byte (section 10.5.1, table 50; AN12321, table 3).
const CAPABILITIES: u8 = 0x05;
const LRP: [u8; 10] = [0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0];

/// Whether the data of a command or of its answer must not be logged.
///
/// Authentications with their second halves, new keys, settings and configuration
/// are secret, because a session that a known key opened reveals each key that was sent in it.
///
/// `MORE` continues the command before it: `before` says whether that one was secret.
pub fn is_secret(command: &[u8], before: bool) -> bool {
    match *command {
        [
            0x90,
            FIRST | NON_FIRST | CHANGE_KEY | CHANGE_FILE_SETTINGS | SET_CONFIGURATION,
            ..,
        ] => true,
        [0x90, 0xAF, ..] => before,
        _ => false,
    }
}

/// `GetKeyVersion` without authentication. The answer is only a hint, because nothing proves it.
pub fn get_key_version(number: u8) -> Vec<u8> {
    wrapped(GET_KEY_VERSION, &[&[number]])
}

/// `GetFileSettings` without authentication: nothing proves the answer.
pub fn get_file_settings(file: u8) -> Vec<u8> {
    wrapped(GET_FILE_SETTINGS, &[&[file]])
}

/// `ISOReadBinary` of the selected file: `length` bytes from byte `offset` on.
pub fn read_binary(offset: u16, length: u8) -> Vec<u8> {
    let [high, low] = offset.to_be_bytes();
    vec![0x00, 0xB0, high, low, length]
}

impl Session {
    /// `GetKeyVersion`, proved by a MAC.
    pub fn get_key_version(&mut self, number: u8) -> Command {
        self.with_mac(GET_KEY_VERSION, &[number])
    }

    /// `GetFileSettings`, proved by a MAC.
    pub fn get_file_settings(&mut self, file: u8) -> Command {
        self.with_mac(GET_FILE_SETTINGS, &[file])
    }

    /// `GetCardUID`: the chip's own UID, whatever it shows.
    pub fn get_card_uid(&mut self) -> Command {
        let command = self.full(GET_CARD_UID, &[], &[]);
        // Seven bytes and their padding.
        self.expects(16);
        command
    }

    /// `WriteData` in the protection that the file asks for, from byte `offset` on.
    pub fn write_data(
        &mut self,
        protection: Protection,
        file: u8,
        offset: u16,
        data: &[u8],
    ) -> Command {
        let [low, high] = offset.to_le_bytes();
        // Chunks are short: see the plan.
        let length = u8::try_from(data.len()).unwrap_or(u8::MAX);
        let header = [file, low, high, 0x00, length, 0x00, 0x00];
        match protection {
            Protection::Plain => self.plain(WRITE_DATA, &[&header, data]),
            Protection::Full => self.full(WRITE_DATA, &header, data),
            Protection::Mac | Protection::IfAny => {
                self.with_mac(WRITE_DATA, &[&header, data].concat())
            }
        }
    }

    /// `ChangeFileSettings`; `settings` as the data sheet's table 69 has them.
    pub fn change_file_settings(&mut self, file: u8, settings: &[u8]) -> Command {
        self.full(CHANGE_FILE_SETTINGS, &[file], settings)
    }

    /// `SetConfiguration`. Several options cannot be undone.
    pub fn set_configuration(&mut self, option: u8, data: &[u8]) -> Command {
        let Command { apdu, reply } = self.full(SET_CONFIGURATION, &[option], data);
        let protection = Protection::IfAny;
        Command {
            apdu,
            reply: Reply {
                protection,
                ..reply
            },
        }
    }

    /// Switches the chip from AES to LRP mode, which cannot be undone. It ends the session, and
    /// mirrors are off afterwards.
    pub fn switch_to_lrp(mut self) -> Command {
        self.set_configuration(CAPABILITIES, &LRP)
    }

    /// `ChangeKey` of a key other than the session's own, 1 to 4. The chip checks the new key by
    /// its CRC, which also shows whether the old key is right.
    pub fn change_key(&mut self, number: u8, old: &AesKey, new: &AesKey, version: u8) -> Command {
        let mut content = Zeroizing::new([0; 21]);
        for (i, byte) in content[..16].iter_mut().enumerate() {
            *byte = new.expose()[i] ^ old.expose()[i];
        }
        content[16] = version;
        content[17..].copy_from_slice(&jam_crc(new.expose()).to_le_bytes());
        self.full(CHANGE_KEY, &[number], &*content)
    }

    /// `ChangeKey` of key 0, which ends the session. The chip checks no CRC here, and stores
    /// whatever it decrypts. So the command is first decrypted as the chip will decrypt it; `None`
    /// if the result is not the new key.
    pub fn change_key_0(mut self, new: &AesKey, version: u8) -> Option<Command> {
        let at = self.at(Way::Command);
        let mut content = Zeroizing::new([0; 17]);
        content[..16].copy_from_slice(new.expose());
        content[16] = version;
        let command = self.full(CHANGE_KEY, &[KEY_0], &*content);
        let read = self.as_the_chip_reads(&command.apdu, at, 1)?;
        let is_whole = bool::from(read.as_slice().ct_eq(&*content));
        is_whole.then_some(Command {
            apdu: command.apdu,
            reply: Reply {
                protection: Protection::Plain,
                ..command.reply
            },
        })
    }
}
