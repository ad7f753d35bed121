//! Secure Dynamic Messaging: the NDEF file as read without a key (data sheet section 9.3, tables 69
//! and 71).

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::{MetaKey, Mirrored, Session};

use super::settings::{FREE, NEVER};

/// Properties of the chip that decide which settings it accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// Size of the file in bytes.
    pub(super) size: usize,
    pub(super) lrp: bool,
    pub(super) tag_tamper: bool,
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            size: 256,
            lrp: false,
            tag_tamper: false,
        }
    }
}

/// The parsed settings of SDM. Positions are bytes of the file.
#[derive(Clone, Debug)]
pub(super) struct Sdm {
    meta_read: u8,
    file_read: u8,
    /// The access condition of `GetFileCounters`.
    pub(super) counter_read: u8,
    mirrors_uid: bool,
    mirrors_counter: bool,
    uid: Option<usize>,
    counter: Option<usize>,
    picc_data: Option<usize>,
    tamper: Option<usize>,
    /// The position of the encrypted file data, and its length in characters.
    enc: Option<(usize, usize)>,
    /// The positions of the MAC's input and of the MAC.
    mac: Option<(usize, usize)>,
    limit: Option<u32>,
}

/// The chip's state at a read.
pub(super) struct Read<'a> {
    pub(super) uid: Uid,
    pub(super) counter: u32,
    pub(super) keys: [&'a AesKey; 5],
    pub(super) lrp: bool,
    pub(super) tamper: [u8; 2],
    pub(super) random: [u8; 24],
}

impl Sdm {
    /// Parses the bytes after the access rights; `None` if they are invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[options, low, high], offsets) = bytes.split_first_chunk()?;
        let mut offsets = offsets.chunks(3).map(|offset| match *offset {
            [a, b, c] => Some(u32::from_le_bytes([a, b, c, 0])),
            _ => None,
        });
        let mut number = |is_there: bool| {
            if is_there {
                Some(Some(offsets.next()??))
            } else {
                Some(None)
            }
        };
        let has = |bit: u8| options >> bit & 1 == 1;
        let (meta_read, file_read) = (high >> 4, high & 0xF);
        let conditions_exist = matches!(meta_read, 0..=4 | FREE | NEVER)
            && matches!(file_read, 0..=4 | NEVER)
            && matches!(low & 0xF, 0..=4 | FREE | NEVER);
        // ASCII, and the reserved bits.
        if options & 0x07 != 0x01 || low >> 4 != NEVER || !conditions_exist {
            return None;
        }
        let (has_file_read, place) = (file_read != NEVER, |offset: Option<u32>| {
            offset.map(|offset| offset as usize)
        });
        let uid = place(number(has(7) && meta_read == FREE)?);
        let counter = place(number(has(6) && meta_read == FREE)?);
        let picc_data = place(number(meta_read < FREE)?);
        let tamper = place(number(has(3))?);
        let input = place(number(has_file_read)?);
        let enc = place(number(has_file_read && has(4))?);
        let enc_length = place(number(has_file_read && has(4))?);
        let mac = place(number(has_file_read)?);
        let limit = number(has(5))?;
        offsets.next().is_none().then_some(Self {
            meta_read,
            file_read,
            counter_read: low & 0xF,
            mirrors_uid: has(7),
            mirrors_counter: has(6),
            uid,
            counter,
            picc_data,
            tamper,
            enc: enc.zip(enc_length),
            mac: input.zip(mac),
            limit,
        })
    }

    /// The rules of table 71.
    pub(super) fn fits(&self, traits: Traits) -> bool {
        let Traits {
            size,
            lrp,
            tag_tamper,
        } = traits;
        let picc_length = if lrp { 48 } else { 32 };
        let mac_at = self.mac.map(|(_, at)| at);
        let places = [
            (self.uid, 14),
            (self.counter, 6),
            (self.picc_data, picc_length),
            (mac_at, 16),
            (
                self.enc.map(|(at, _)| at),
                self.enc.map_or(0, |(_, length)| length),
            ),
        ];
        let places: Vec<_> = places
            .into_iter()
            .filter_map(|(at, length)| Some(at?..at? + length))
            .collect();
        let inside = places.iter().all(|place| place.end <= size);
        let apart = places.iter().enumerate().all(|(i, one)| {
            let others = &places[..i];
            others
                .iter()
                .all(|other| one.end <= other.start || other.end <= one.start)
        });
        let window = self.mac.is_none_or(|(input, at)| input <= at);
        let encrypted = self.enc.is_none_or(|(at, length)| {
            let in_window = self
                .mac
                .is_some_and(|(input, mac)| input <= at && at + length <= mac);
            length >= 32
                && length.is_multiple_of(32)
                && in_window
                && self.mirrors_uid
                && self.mirrors_counter
        });
        let tamper = self.tamper.is_none_or(|at| {
            // In encrypted file data it must be in the half that is encrypted.
            tag_tamper
                && at + 2 <= size
                && places.iter().all(|place| {
                    at + 2 <= place.start
                        || place.end <= at
                        || self.enc.is_some_and(|(enc, length)| {
                            place.start == enc && at + 2 <= enc + length / 2
                        })
                })
        });
        let counted = self.mirrors_counter || (self.limit.is_none() && self.counter_read == NEVER);
        let names_something = self.meta_read == NEVER || self.mirrors_uid || self.mirrors_counter;
        inside && apart && window && encrypted && tamper && counted && names_something
    }

    /// Whether SDM lets anyone read the file, whatever its own right to read.
    pub(super) fn opens_file(&self) -> bool {
        self.file_read != NEVER
    }

    /// Whether the counter has reached its limit.
    pub(super) fn is_used_up(&self, counter: u32) -> bool {
        counter >= self.limit.unwrap_or(0xFF_FFFF)
    }

    /// The content of the file as read without a key.
    pub(super) fn mirror(&self, content: &[u8], read: &Read<'_>) -> Vec<u8> {
        let mut file = content.to_vec();
        let mode = if read.lrp { Mode::Lrp } else { Mode::Aes };
        let mirrored = Mirrored {
            uid: self.mirrors_uid.then_some(read.uid),
            counter: self.mirrors_counter.then_some(read.counter),
        };
        if let Some(at) = self.uid {
            write(&mut file, at, &read.uid.bytes());
        }
        if let Some(at) = self.counter {
            write(&mut file, at, &read.counter.to_be_bytes()[1..]);
        }
        if let Some(at) = self.picc_data {
            let key = MetaKey::new(mode, read.keys[usize::from(self.meta_read)]);
            write(&mut file, at, &key.seal(mirrored, read.random));
        }
        if let Some(at) = self.tamper {
            file[at..at + 2].copy_from_slice(&read.tamper);
        }
        let Some((input, mac_at)) = self.mac else {
            return file;
        };
        let session = Session::new(mode, read.keys[usize::from(self.file_read)], mirrored);
        if let Some((at, length)) = self.enc {
            let encrypted = session.encrypt(&file[at..at + length / 2]);
            write(&mut file, at, &encrypted);
        }
        let mac = session.mac(&file[input..mac_at]);
        write(&mut file, mac_at, &mac);
        file
    }
}

/// Writes bytes as hex digits.
fn write(file: &mut [u8], at: usize, bytes: &[u8]) {
    let digits = bytes
        .iter()
        .flat_map(|byte| format!("{byte:02X}").into_bytes());
    for (place, digit) in file[at..].iter_mut().zip(digits) {
        *place = digit;
    }
}
