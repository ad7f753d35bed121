//! The answer to `GetFileSettings`, which anyone may request: who may write the file, and which
//! codes the chip writes into its URL (data sheet sections 8.2.3, 9.3 and 10.7.2, table 71).

use super::{FREE, NEVER, SDM};
use crate::technology::Access;
use crate::{MacFrom, Mirror};

/// Hexadecimal digits of the counter, which is before the MAC in the plain mirror.
const COUNTER_DIGITS: usize = 6;

/// The settings of a file, as a chip states them. Nothing proves them.
///
/// ```
/// use inlay::technology::Access;
/// use inlay::technology::ntag424::file_settings::FileSettings;
/// use inlay::{MacFrom, Mirror};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The settings that AN12196 rev 1.8 writes to its chip (table 19), with type and size.
/// let answer = [
///     0x00, 0x40, 0x00, 0xE0, 0x00, 0x01, 0x00, 0xC1, 0xF1, 0x21, 0x20, 0x00, 0x00, 0x43, 0x00,
///     0x00, 0x43, 0x00, 0x00,
/// ];
/// let settings = FileSettings::parse(&answer).ok_or("the answer is malformed")?;
/// assert_eq!(settings.access(), Access::Key);
/// let codes = settings.codes(&[]).ok_or("the chip makes no codes")?;
/// assert_eq!(codes.mirror, Some(Mirror::Encrypted));
/// assert_eq!(codes.mac_from, Some(MacFrom::None));
/// assert_eq!((codes.meta_key, codes.file_key), (Some(2), Some(1)));
/// assert_eq!(codes.problem, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSettings {
    access: [u8; 2],
    sdm: Option<Sdm>,
}

/// The codes that a chip writes into its URL, as its settings show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCodes {
    /// How it mirrors UID and counter; none if it mirrors neither.
    pub mirror: Option<Mirror>,
    /// The MAC input in the canonical form; none if only a URL template defines it.
    pub mac_from: Option<MacFrom>,
    /// The number of the key that encrypts UID and counter.
    pub meta_key: Option<u8>,
    /// The number of the key that makes the MAC.
    pub file_key: Option<u8>,
    /// Whether the codes are in the canonical form, `uid` and `token`. Other forms need a URL
    /// template.
    pub canonical: bool,
    /// Why the codes verify no tap, as a sentence; none if they do.
    pub problem: Option<&'static str>,
}

/// Secure Dynamic Messaging: the mirrored values, and their offsets in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub fn parse(answer: &[u8]) -> Option<Self> {
        let (&[_, option, a0, a1, _, _, _], rest) = answer.split_first_chunk()?;
        let sdm = match option & SDM {
            0 => None,
            _ => Some(Sdm::parse(rest)?),
        };
        Some(Self {
            access: [a0, a1],
            sdm,
        })
    }

    /// Who may write the file. Whoever may change the settings can also allow themselves to write.
    pub fn access(&self) -> Access {
        let [rw_change, read_write] = self.access;
        let conditions = [rw_change >> 4, rw_change & 0x0F, read_write & 0x0F];
        if conditions.contains(&FREE) {
            Access::Open
        } else if conditions == [NEVER; 3] {
            Access::Locked
        } else {
            Access::Key
        }
    }

    /// The codes that the chip writes into `file`, which is the whole file as it was read,
    /// including its two bytes of length. `None` if it writes none.
    pub fn codes(&self, file: &[u8]) -> Option<ShownCodes> {
        let sdm = self.sdm.as_ref()?;
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
        Some(ShownCodes {
            mirror,
            mac_from,
            meta_key: key(sdm.meta_read),
            file_key: key(sdm.file_read),
            canonical: mac_from.is_some() && sdm.is_canonical(file),
            problem: sdm.problem(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::technology::ntag424::file_settings::{FACTORY, sdm_settings};
    use crate::template::Template;

    /// An answer to `GetFileSettings`: the type, the option and rights of `settings`, the size, and
    /// the rest of `settings`.
    fn answer(settings: &[u8]) -> Vec<u8> {
        let (head, sdm) = settings.split_at(3);
        [&[0x00][..], head, &[0x00, 0x01, 0x00], sdm].concat()
    }

    #[test]
    fn the_settings_of_a_template_are_read_back() {
        for mirror in [Mirror::Plain, Mirror::Encrypted] {
            for mac_from in [MacFrom::None, MacFrom::Uid] {
                let url = "https://tags.example.com/t";
                let template = Template::canonical(url, mirror, mac_from).unwrap();
                let layout = template.layout(Some("bottle-1")).unwrap();
                let settings = FileSettings::parse(&answer(&sdm_settings(&template, &layout)));
                let settings = settings.unwrap();
                assert_eq!(settings.access(), Access::Key);
                let encrypted = mirror == Mirror::Encrypted;
                let expected = ShownCodes {
                    mirror: Some(mirror),
                    mac_from: Some(mac_from),
                    meta_key: encrypted.then_some(1),
                    file_key: Some(2),
                    canonical: true,
                    problem: None,
                };
                assert_eq!(settings.codes(&layout.file), Some(expected));
            }
        }
    }

    #[test]
    fn a_new_chip_makes_no_codes_and_anyone_can_write_it() {
        let settings = FileSettings::parse(&answer(&FACTORY)).unwrap();
        assert_eq!(
            (settings.access(), settings.codes(&[])),
            (Access::Open, None)
        );
    }

    #[test]
    fn codes_that_prove_no_tap_have_a_problem() {
        let problem = |settings: &[u8]| {
            let settings = FileSettings::parse(&answer(settings)).unwrap();
            settings.codes(&[]).unwrap().problem.unwrap_or_default()
        };
        // UID and counter without a MAC; a MAC without either; UID and a MAC.
        let no_mac = [0x40, 0x00, 0xE0, 0xC1, 0xFF, 0xEF, 9, 0, 0, 30, 0, 0];
        assert!(problem(&no_mac).contains("no MAC"));
        let neither = [0x40, 0x00, 0xE0, 0x01, 0xFF, 0xF2, 30, 0, 0, 30, 0, 0];
        assert!(problem(&neither).contains("neither"));
        let no_counter = [
            0x40, 0x00, 0xE0, 0x81, 0xFF, 0xE2, 9, 0, 0, 30, 0, 0, 30, 0, 0,
        ];
        assert!(problem(&no_counter).contains("its counter"));
    }

    #[test]
    fn an_answer_that_is_cut_is_none() {
        let whole = answer(&[
            0x40, 0x00, 0xE0, 0xC1, 0xFF, 0x12, 9, 0, 0, 30, 0, 0, 30, 0, 0,
        ]);
        assert!(FileSettings::parse(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(FileSettings::parse(&whole[..length]), None, "{length}");
        }
    }
}
