//! PICC data: UID and read counter, encrypted under the meta key (`NT4H2421Gx` section 9.3.4).

use super::lrp::{Lrp, PICC_KEY};
use super::session;
use crate::Uid;
use crate::key::AesKey;
use crate::technology::Mode;
use crate::template::{Field, Filled};

/// The values that a chip mirrors. A value that it does not mirror is not part of its session keys
/// either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirrored {
    /// UID, if the chip mirrors it.
    pub uid: Option<Uid>,
    /// The read counter, 24 bits.
    pub counter: Option<u32>,
}

/// `PICCDataTag`: bit 7 UID, bit 6 counter, the low nibble the UID's length.
const UID: u8 = 0x87;
const COUNTER: u8 = 0x40;
const BOTH: u8 = UID | COUNTER;

impl Mirrored {
    /// PICC data with UID and counter.
    pub const fn both(uid: Uid, counter: u32) -> Self {
        Self {
            uid: Some(uid),
            counter: Some(counter),
        }
    }

    /// The block that is encrypted: tag, UID, counter (LSB first), randomness.
    pub fn block(self, padding: [u8; 16]) -> [u8; 16] {
        let mut block = padding;
        let uid = self.uid.map_or(0, |_| UID);
        block[0] = uid | self.counter.map_or(0, |_| COUNTER);
        self.write_to(&mut block[1..]);
        block
    }

    /// Writes UID and counter (LSB first) one after the other, as session vectors have them.
    pub(crate) fn write_to(self, bytes: &mut [u8]) {
        let uid = self.uid.map(Uid::bytes);
        let counter = self.counter.map(u32::to_le_bytes);
        let uid = uid.as_ref().map_or(&[][..], |uid| uid);
        let counter = counter.as_ref().map_or(&[][..], |counter| &counter[..3]);
        let (uid_bytes, rest) = bytes.split_at_mut(uid.len());
        uid_bytes.copy_from_slice(uid);
        rest[..counter.len()].copy_from_slice(counter);
    }

    /// From a decrypted block. `None` if no chip writes its tag, which is the case for 253 of 256
    /// wrong keys. Bits 5 and 4 are reserved, and without a UID its length is 0.
    pub fn from_block(block: [u8; 16]) -> Option<Self> {
        let [tag, rest @ ..] = block;
        let uid = |[u0, u1, u2, u3, u4, u5, u6, ..]: [u8; 15]| {
            Some(Uid::from_bytes([u0, u1, u2, u3, u4, u5, u6]))
        };
        let counter = |at: usize| {
            Some(u32::from_le_bytes([
                rest[at],
                rest[at + 1],
                rest[at + 2],
                0,
            ]))
        };
        match tag {
            BOTH => Some(Self {
                uid: uid(rest),
                counter: counter(7),
            }),
            UID => Some(Self {
                uid: uid(rest),
                counter: None,
            }),
            COUNTER => Some(Self {
                uid: None,
                counter: counter(0),
            }),
            _ => None,
        }
    }
}

/// A meta key that is ready for use. In LRP mode preparing it takes some 40 AES operations, so it
/// is worth keeping.
pub enum MetaKey {
    /// For chips in AES mode.
    Aes(AesKey),
    /// Expanded, for chips in LRP mode.
    Lrp(Box<Lrp>),
}

impl MetaKey {
    /// Expands a key if the mode needs it.
    pub fn new(mode: Mode, key: &AesKey) -> Self {
        match mode {
            Mode::Aes => Self::Aes(key.clone()),
            Mode::Lrp => Self::Lrp(Box::new(Lrp::new(key))),
        }
    }

    /// The values in a code's PICC data; `None` if they were encrypted with another key. In AES
    /// mode they are one block. In LRP mode 8 random bytes come first, from which the counter
    /// starts, and then the block.
    pub fn open(&self, code: &Filled) -> Option<Mirrored> {
        let block = match self {
            Self::Aes(key) => session::decrypt_block(key, code.bytes(Field::Picc)?),
            Self::Lrp(key) => {
                let data: [u8; 24] = code.bytes(Field::Picc)?;
                let (mut counter, mut block) = ([0; 8], [0; 16]);
                counter.copy_from_slice(&data[..8]);
                block.copy_from_slice(&data[8..]);
                key.decrypt(PICC_KEY, &mut counter, &mut block);
                block
            }
        };
        Mirrored::from_block(block)
    }

    /// PICC data as a chip encrypts them; `random` is the chip's own, 5 bytes of it in AES mode.
    pub fn seal(&self, mirrored: Mirrored, random: [u8; 24]) -> Vec<u8> {
        let mut padding = [0; 16];
        padding.copy_from_slice(&random[8..]);
        let block = mirrored.block(padding);
        match self {
            Self::Aes(key) => session::encrypt_block(key, block).to_vec(),
            Self::Lrp(key) => {
                let mut data = random;
                data[8..].copy_from_slice(&block);
                let (counter, block) = data.split_at_mut(8);
                let mut counter = counter.to_vec();
                key.encrypt(PICC_KEY, &mut counter, block);
                data.to_vec()
            }
        }
    }
}
