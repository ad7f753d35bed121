//! The settings of a file: who may do what, how its data travel, and what is mirrored
//! (data sheet sections 8.2.3 and 10.7, tables 13, 69 and 73).

use super::mirror::{Sdm, Traits};

/// An access condition that everybody meets.
pub const FREE: u8 = 0xE;
/// An access condition that nobody can meet.
pub const NEVER: u8 = 0xF;

/// `FileOption`: whether SDM is on.
const SDM: u8 = 0x40;

/// The settings of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSettings {
    /// `FileOption`: communication mode, and whether SDM is on.
    option: u8,
    /// `AccessRights`, as they travel.
    access: [u8; 2],
    /// What follows when SDM is on, as it travels.
    sdm: Vec<u8>,
}

/// What a command does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    Change,
}

/// How data travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Mac,
    Full,
}

impl FileSettings {
    /// Plain communication without SDM. The conditions are those of reading,
    /// writing, both, and changing the settings.
    pub fn plain(read: u8, write: u8, read_write: u8, change: u8) -> Self {
        Self {
            option: 0x00,
            access: [read_write << 4 | change, read << 4 | write],
            sdm: Vec::new(),
        }
    }

    /// From the data of `ChangeFileSettings`; `None` if a chip of AES mode without a
    /// tamper loop refuses them for its NDEF file.
    pub fn parse(data: &[u8]) -> Option<Self> {
        Self::parse_for(data, Traits::default())
    }

    pub(super) fn parse_for(data: &[u8], traits: Traits) -> Option<Self> {
        let (&[option, rw_change, read_write], sdm) = data.split_first_chunk()?;
        let settings = Self {
            option,
            access: [rw_change, read_write],
            sdm: sdm.to_vec(),
        };
        let nibbles = settings
            .access
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 0xF]);
        let conditions_exist = nibbles
            .into_iter()
            .all(|condition| !(5..FREE).contains(&condition));
        let is_valid = if settings.has_sdm() {
            Sdm::parse(sdm).is_some_and(|sdm| sdm.fits(traits))
        } else {
            sdm.is_empty()
        };
        (option & !(SDM | 0x03) == 0 && conditions_exist && is_valid).then_some(settings)
    }

    /// As `GetFileSettings` shows them.
    pub(super) fn shown(&self, size: usize) -> Vec<u8> {
        let size = u32::try_from(size).expect("a file is small").to_le_bytes();
        [
            &[0x00, self.option][..],
            &self.access,
            &size[..3],
            &self.sdm,
        ]
        .concat()
    }

    /// Whether SDM is on.
    pub fn has_sdm(&self) -> bool {
        self.option & SDM != 0
    }

    pub(super) fn sdm(&self) -> Option<Sdm> {
        self.has_sdm().then(|| Sdm::parse(&self.sdm)).flatten()
    }

    pub(super) fn switch_off_sdm(&mut self) {
        self.option &= !SDM;
        self.sdm.clear();
    }

    /// How the file is used with this key, or with none, or why it is not. A right that
    /// everybody has is used in clear, in a session as well (section 8.2.3.3).
    pub(super) fn granted(&self, what: Use, key: Option<u8>) -> Result<Mode, u16> {
        let read_write = self.access[0] >> 4;
        let conditions = match what {
            Use::Read => [self.access[1] >> 4, read_write],
            Use::Write => [self.access[1] & 0xF, read_write],
            Use::Change => [self.access[0] & 0xF; 2],
        };
        if key.is_some_and(|key| conditions.contains(&key)) {
            return Ok(match (what, self.option & 0x03) {
                (Use::Change, _) | (_, 0x03) => Mode::Full,
                (_, 0x01) => Mode::Mac,
                _ => Mode::Plain,
            });
        }
        match conditions {
            _ if conditions.contains(&FREE) => Ok(Mode::Plain),
            [NEVER, NEVER] => Err(0x919D),
            _ => Err(0x91AE),
        }
    }
}
