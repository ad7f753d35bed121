//! The settings of a file, and what Secure Dynamic Messaging makes of its
//! content (data sheet sections 8.2.3.2 and 9.3, table 69).

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::session::{PiccData, mac_session_key, sdmmac};

/// An access condition that nobody has to meet.
pub const FREE: u8 = 0xE;
/// An access condition that nobody can meet.
pub const NEVER: u8 = 0xF;

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

/// Secure Dynamic Messaging of a file, in its parts.
struct Sdm {
    meta_read: u8,
    file_read: u8,
    uid: Option<usize>,
    counter: Option<usize>,
    picc_data: Option<usize>,
    /// Where the input of the MAC begins, and the MAC.
    mac: Option<(usize, usize)>,
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

    /// From the data of `ChangeFileSettings`; `None` if the chip refuses them.
    pub fn parse(data: &[u8]) -> Option<Self> {
        let (&[option, rw_change, read_write], sdm) = data.split_first_chunk()?;
        let settings = Self {
            option,
            access: [rw_change, read_write],
            sdm: sdm.to_vec(),
        };
        let is_valid = if settings.has_sdm() {
            settings.sdm().is_some()
        } else {
            sdm.is_empty()
        };
        is_valid.then_some(settings)
    }

    /// As `GetFileSettings` shows them.
    pub fn shown(&self, size: usize) -> Vec<u8> {
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
        self.option & 0x40 != 0
    }

    /// Whether data travels encrypted and with a MAC.
    pub fn is_full(&self) -> bool {
        self.option & 0x03 == 0x03
    }

    /// Whether the file can be read with this key, or with none.
    pub fn readable(&self, key: Option<u8>) -> bool {
        meets(key, self.access[1] >> 4) || meets(key, self.access[0] >> 4)
    }

    /// Whether it can be written.
    pub fn writable(&self, key: Option<u8>) -> bool {
        meets(key, self.access[1] & 0xF) || meets(key, self.access[0] >> 4)
    }

    /// Whether its settings can be changed.
    pub fn changeable(&self, key: Option<u8>) -> bool {
        meets(key, self.access[0] & 0xF)
    }

    fn sdm(&self) -> Option<Sdm> {
        let (&[options, low, high], offsets) = self.sdm.split_first_chunk()?;
        let mut offsets = offsets.chunks(3).map(|offset| match *offset {
            [a, b, c] => Some(u32::from_le_bytes([a, b, c, 0]) as usize),
            _ => None,
        });
        let mut offset = |is_there: bool| {
            if is_there {
                Some(Some(offsets.next()??))
            } else {
                Some(None)
            }
        };
        let (meta_read, file_read) = (high >> 4, high & 0xF);
        let (has_uid, has_counter) = (options & 0x80 != 0, options & 0x40 != 0);
        // Neither file data in cipher nor a limit of the counter.
        if options & 0x30 != 0 || low >> 4 != 0xF {
            return None;
        }
        let uid = offset(has_uid && meta_read == FREE)?;
        let counter = offset(has_counter && meta_read == FREE)?;
        let picc_data = offset(meta_read < FREE)?;
        let input = offset(file_read != NEVER)?;
        let mac = offset(file_read != NEVER)?;
        offsets.next().is_none().then_some(Sdm {
            meta_read,
            file_read,
            uid,
            counter,
            picc_data,
            mac: input.zip(mac),
        })
    }

    /// The file's content as a reader without a key sees it.
    pub fn mirror(
        &self,
        content: &[u8],
        uid: Uid,
        counter: u32,
        keys: &[AesKey; 5],
        padding: [u8; 5],
    ) -> Vec<u8> {
        let mut mirrored = content.to_vec();
        let Some(sdm) = self.has_sdm().then(|| self.sdm()).flatten() else {
            return mirrored;
        };
        if let Some(at) = sdm.uid {
            write(&mut mirrored, at, &uid.bytes());
        }
        if let Some(at) = sdm.counter {
            write(&mut mirrored, at, &counter.to_be_bytes()[1..]);
        }
        if let Some(at) = sdm.picc_data {
            let key = &keys[usize::from(sdm.meta_read)];
            write(
                &mut mirrored,
                at,
                &PiccData { uid, counter }.encrypt(key, padding),
            );
        }
        if let Some((input, at)) = sdm.mac {
            let key = mac_session_key(&keys[usize::from(sdm.file_read)], uid, counter);
            let mac = sdmmac(&key, mirrored.get(input..at).unwrap_or_default());
            write(&mut mirrored, at, &mac);
        }
        mirrored
    }
}

fn meets(key: Option<u8>, condition: u8) -> bool {
    condition == FREE || key == Some(condition)
}

/// Writes bytes as hex digits; what lies beyond the end is lost.
fn write(file: &mut [u8], at: usize, bytes: &[u8]) {
    let digits = bytes
        .iter()
        .flat_map(|byte| format!("{byte:02X}").into_bytes());
    for (place, digit) in file.iter_mut().skip(at).zip(digits) {
        *place = digit;
    }
}
