//! The settings of an NTAG 424 DNA's message file, which anyone may read: who may write it, and
//! which codes the chip writes into its URL (data sheet `NT4H2421Gx` rev 3.0, sections 8.2.3, 9.3
//! and 10.7.2).

use serde::Serialize;
use tapdesk_service::inlay::{MacFrom, Mirror};

use super::Lock;

/// The access condition "free": no authentication needed.
const FREE: u8 = 0xE;
/// The access condition "never".
const NEVER: u8 = 0xF;
/// Hexadecimal digits of the counter, which is before the MAC in the plain mirror.
const COUNTER_DIGITS: usize = 6;

/// The codes that a chip writes into its URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ChipCodes"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Codes {
    /// The chip does not report its settings.
    Unknown,
    /// It writes no codes that could verify a tap.
    Off,
    /// It writes a new code at each read.
    On {
        /// How it mirrors UID and counter; none if it mirrors neither.
        #[cfg_attr(test, ts(type = "Mirror | null"))]
        mirror: Option<Mirror>,
        /// The MAC input in the canonical form; none if only a URL template defines it.
        #[cfg_attr(test, ts(type = "MacFrom | null"))]
        mac_from: Option<MacFrom>,
        /// The number of the key that encrypts UID and counter.
        meta_key: Option<u8>,
        /// The number of the key that generates the MAC.
        file_key: Option<u8>,
        /// Whether the codes are in the canonical form, `uid` and `token`. Other forms need a URL
        /// template.
        canonical: bool,
        /// Why the codes verify no tap, as a sentence; none if they do.
        problem: Option<String>,
    },
}

/// The parsed settings of a file.
pub(super) struct FileSettings {
    access: [u8; 2],
    sdm: Option<Sdm>,
}

/// Secure Dynamic Messaging: the mirrored values, and their offsets in the file.
struct Sdm {
    meta_read: u8,
    file_read: u8,
    shows_uid: bool,
    shows_counter: bool,
    uid: Option<usize>,
    counter: Option<usize>,
    picc_data: Option<usize>,
    mac_input: Option<usize>,
    encrypts: bool,
    mac: Option<usize>,
}

impl FileSettings {
    /// Parses the answer to `GetFileSettings`; `None` if it is malformed.
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

    /// Who may write the file. Whoever may change the settings can also allow themselves to write.
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

    /// The codes that the chip writes into `file`, which is the whole file as it was read,
    /// including its two bytes of length.
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
            canonical: mac_from.is_some() && sdm.is_canonical(file),
            problem: sdm.problem().map(str::to_owned),
        }
    }
}

impl Sdm {
    /// Parses the bytes after the file's size. The offsets have the order of the data sheet's table
    /// 71.
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
            shows_uid: options & 0x80 != 0,
            shows_counter: options & 0x40 != 0,
            uid,
            counter,
            picc_data,
            mac_input,
            encrypts,
            mac,
        })
    }

    /// Why such codes verify no tap, whichever URL template is used.
    fn problem(&self) -> Option<&'static str> {
        if self.mac.is_none() {
            return Some("It makes no MAC, so its codes prove nothing.");
        }
        if self.meta_read == NEVER || !(self.shows_uid || self.shows_counter) {
            return Some("It mirrors neither UID nor counter, so its codes identify no tap.");
        }
        (!self.shows_counter).then_some(
            "It does not mirror its counter, so its code is always the same and proves no tap.",
        )
    }

    /// Whether the code is in the parameters `uid` and `token`, covers both UID and counter, and
    /// encrypts nothing else.
    fn is_canonical(&self, file: &[u8]) -> bool {
        let behind = |name: &str, at: usize| {
            let before = file.get(..at).unwrap_or_default();
            let before = before.strip_suffix(name.as_bytes());
            before.is_some_and(|before| before.ends_with(b"?") || before.ends_with(b"&"))
        };
        let is_in_place = match (self.uid, self.counter, self.picc_data, self.mac) {
            (Some(uid), Some(counter), None, Some(mac)) => {
                behind("uid=", uid) && behind("token=", counter) && mac == counter + COUNTER_DIGITS
            }
            (None, None, Some(picc_data), Some(mac)) => {
                behind("uid=", picc_data) && behind("token=", mac)
            }
            _ => false,
        };
        is_in_place && self.shows_uid && self.shows_counter && !self.encrypts
    }
}
