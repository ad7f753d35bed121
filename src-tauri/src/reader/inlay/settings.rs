//! The settings of an NTAG 424 DNA's message file, as anyone may ask for them:
//! who may write it, and which codes the chip writes into its URL (data sheet
//! `NT4H2421Gx` rev 3.0, sections 8.2.3, 9.3 and 10.7.2).

use serde::Serialize;
use tapdesk_service::inlay::{MacFrom, Mirror};

use super::Lock;

/// An access condition that nobody has to meet.
const FREE: u8 = 0xE;
/// An access condition that nobody can meet.
const NEVER: u8 = 0xF;
/// Hexadecimal digits of the counter, which stands before the MAC in the plain mirror.
const COUNTER_DIGITS: usize = 6;

/// Which codes a chip writes into its URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipCodes"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Codes {
    /// It does not tell.
    Unknown,
    /// None: its content never changes.
    Off,
    /// A code of its own at each read.
    On {
        /// How it shows UID and counter; none if it shows neither.
        #[cfg_attr(test, ts(type = "Mirror | null"))]
        mirror: Option<Mirror>,
        /// What its MAC covers; none if the service has no setting for it.
        #[cfg_attr(test, ts(type = "MacFrom | null"))]
        mac_from: Option<MacFrom>,
        /// The number of the key that encrypts UID and counter.
        meta_key: Option<u8>,
        /// The number of the key that makes the MAC.
        file_key: Option<u8>,
        /// Why the service cannot check these codes, as a sentence; none if it can.
        problem: Option<String>,
    },
}

/// The settings of a file.
pub(super) struct FileSettings {
    access: [u8; 2],
    sdm: Option<Sdm>,
}

/// Secure Dynamic Messaging: what is mirrored, and where in the file.
struct Sdm {
    meta_read: u8,
    file_read: u8,
    shows_both: bool,
    uid: Option<usize>,
    counter: Option<usize>,
    picc_data: Option<usize>,
    mac_input: Option<usize>,
    encrypts: bool,
    mac: Option<usize>,
}

impl FileSettings {
    /// From the answer to `GetFileSettings`; `None` if it is none.
    pub(super) fn parse(answer: &[u8]) -> Option<Self> {
        let (&[_, option, a0, a1, _, _, _], rest) = answer.split_first_chunk()?;
        let sdm = match option & 0x40 {
            0 => None,
            _ => Some(Sdm::parse(rest)?),
        };
        Some(Self {
            access: [a0, a1],
            sdm,
        })
    }

    /// Who may write the file. Whoever may change the settings may allow themselves to write.
    pub(super) fn lock(&self) -> Lock {
        let [rw_change, read_write] = self.access;
        let conditions = [rw_change >> 4, rw_change & 0x0F, read_write & 0x0F];
        if conditions.contains(&FREE) {
            Lock::Open
        } else if conditions == [NEVER; 3] {
            Lock::Locked
        } else {
            Lock::Key
        }
    }

    /// Which codes the chip writes into `file`: the whole file as it was read,
    /// its two bytes of length first.
    pub(super) fn codes(&self, file: &[u8]) -> Codes {
        let Some(sdm) = &self.sdm else {
            return Codes::Off;
        };
        let mirror = match sdm.meta_read {
            FREE => Some(Mirror::Plain),
            NEVER => None,
            _ => Some(Mirror::Encrypted),
        };
        let begin = sdm.picc_data.or(sdm.uid);
        let mac_from = match (sdm.mac_input, sdm.mac) {
            (Some(input), Some(mac)) if input == mac => Some(MacFrom::None),
            (Some(input), Some(_)) if begin == Some(input) => Some(MacFrom::Uid),
            _ => None,
        };
        let key = |number: u8| (number < FREE).then_some(number);
        Codes::On {
            mirror,
            mac_from,
            meta_key: key(sdm.meta_read),
            file_key: key(sdm.file_read),
            problem: sdm.problem(file, mac_from).map(str::to_owned),
        }
    }
}

impl Sdm {
    /// From what follows the file's size. The order of the offsets is that of the data sheet's table 71.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[options, _, access], offsets) = bytes.split_first_chunk()?;
        let (meta_read, file_read) = (access >> 4, access & 0x0F);
        let (offsets, []) = offsets.as_chunks::<3>() else {
            return None;
        };
        let mut offsets = offsets.iter();
        let mut next = |is_there: bool| {
            if !is_there {
                return Some(None);
            }
            let &[a, b, c] = offsets.next()?;
            let offset = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            Some(Some(offset))
        };
        let uid = next(options & 0x80 != 0 && meta_read == FREE)?;
        let counter = next(options & 0x40 != 0 && meta_read == FREE)?;
        let picc_data = next(meta_read < FREE)?;
        next(options & 0x08 != 0)?;
        let mac_input = next(file_read != NEVER)?;
        let encrypts = options & 0x10 != 0;
        next(encrypts)?;
        next(encrypts)?;
        let mac = next(file_read != NEVER)?;
        Some(Self {
            meta_read,
            file_read,
            shows_both: options & 0xC0 == 0xC0,
            uid,
            counter,
            picc_data,
            mac_input,
            encrypts,
            mac,
        })
    }

    /// Why the service cannot check codes that are made this way.
    fn problem(&self, file: &[u8], mac_from: Option<MacFrom>) -> Option<&'static str> {
        let Some(mac) = self.mac else {
            return Some("It makes no MAC, so its codes prove nothing.");
        };
        if self.meta_read == NEVER || !self.shows_both {
            return Some("It does not mirror both UID and counter, so its codes identify no tap.");
        }
        if self.encrypts {
            return Some("It encrypts a part of its URL, which the service does not support.");
        }
        let behind = |name: &str, at: usize| {
            let before = file.get(..at).unwrap_or_default();
            let before = before.strip_suffix(name.as_bytes());
            before.is_some_and(|before| before.ends_with(b"?") || before.ends_with(b"&"))
        };
        let is_in_place = match (self.uid, self.counter, self.picc_data) {
            (Some(uid), Some(counter), None) => {
                behind("uid=", uid) && behind("token=", counter) && mac == counter + COUNTER_DIGITS
            }
            (None, None, Some(picc_data)) => behind("uid=", picc_data) && behind("token=", mac),
            _ => false,
        };
        if !is_in_place {
            return Some(
                "Its code is not in the parameters uid and token. Write the URL from the tag's encoding sheet.",
            );
        }
        mac_from.is_none().then_some(
            "Its MAC input is not supported. Use the settings of the tag's encoding sheet.",
        )
    }
}
