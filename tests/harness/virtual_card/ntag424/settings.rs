//! The settings of a file: access rights, communication mode, and mirrors (data sheet sections
//! 8.2.3 and 10.7, tables 13, 69 and 73).

use super::mirror::{Sdm, Traits};

/// The access condition "free": no authentication needed.
pub const FREE: u8 = 0xE;
/// The access condition "never".
pub const NEVER: u8 = 0xF;

/// `FileOption`: the bit that switches SDM on.
const SDM: u8 = 0x40;

/// The settings of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSettings {
    /// `FileOption`: communication mode, and whether SDM is on.
    option: u8,
    /// `AccessRights`, as transmitted.
    access: [u8; 2],
    /// The settings of SDM if it is on, as transmitted.
    sdm: Vec<u8>,
}

/// The access of a command to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    Change,
}

/// How a file protects its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Mac,
    Full,
}

impl FileSettings {
    /// Plain communication without SDM, with the access conditions for reading, writing, both, and
    /// changing the settings.
    pub fn plain(read: u8, write: u8, read_write: u8, change: u8) -> Self {
        Self {
            option: 0x00,
            access: [read_write << 4 | change, read << 4 | write],
            sdm: Vec::new(),
        }
    }

    /// Parses the data of `ChangeFileSettings`; `None` if a chip in AES mode without a tamper loop
    /// refuses them for its NDEF file.
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

    /// The settings in the form of `GetFileSettings`.
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

    /// The communication mode for this access with this key, or with none, or the error status. A
    /// free right is used in plain mode, even in a session (section 8.2.3.3).
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
