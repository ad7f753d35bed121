//! The keys of a session, in AES and in LRP mode. They make its MACs and encrypt.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
use zeroize::Zeroizing;

use super::{cbc_decrypt, cbc_encrypt};
use crate::key::{AesKey, cmac};
use crate::technology::Mode;
use crate::technology::ntag424::lrp::{FILE_KEY, Lrp};

/// The keys of a session.
pub(super) enum Cipher {
    /// `SesAuthENCKey` and `SesAuthMACKey` (data sheet section 9.1.7).
    Aes {
        /// Key that encrypts messages.
        enc: AesKey,
        /// Key that makes MACs.
        mac: AesKey,
    },
    /// `SesAuthMasterKey` (section 9.2.7). Its updated key 0 makes MACs, 1 encrypts.
    Lrp {
        /// The key itself, to be stored.
        master: AesKey,
        /// Expanded form of `master`.
        lrp: Box<Lrp>,
    },
}

/// The direction of a message.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// From the reader to the chip.
    Command,
    /// From the chip to the reader.
    Answer,
}

/// The position of a message in its session.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) way: Way,
    pub(super) ti: [u8; 4],
    /// Command counter, which both sides raise.
    pub(super) counter: u16,
    /// Blocks that were encrypted or decrypted before: `EncCtr` of LRP mode. AES mode does not use
    /// it (section 9.2.4).
    pub(super) blocks: u32,
}

impl Cipher {
    /// Derives the keys from a key of the chip and the randomness of reader and chip.
    pub(super) fn derive(mode: Mode, key: &AesKey, a: &[u8; 16], b: &[u8; 16]) -> Self {
        let context = context(a, b);
        let vector = |before: &[u8], after: &[u8]| {
            Zeroizing::new([before, &[0x00, 0x01, 0x00, 0x80], &*context, after].concat())
        };
        match mode {
            Mode::Aes => {
                let session_key =
                    |label: [u8; 2]| AesKey::from_bytes(cmac(key, &vector(&label, &[])));
                Self::Aes {
                    enc: session_key([0xA5, 0x5A]),
                    mac: session_key([0x5A, 0xA5]),
                }
            }
            Mode::Lrp => {
                let master = Lrp::new(key).cmac(&vector(&[], &[0x96, 0x69]));
                Self::of_master(AesKey::from_bytes(master))
            }
        }
    }

    /// Keys of LRP mode, from their master key.
    pub(super) fn of_master(master: AesKey) -> Self {
        let lrp = Box::new(Lrp::new(&master));
        Self::Lrp { master, lrp }
    }

    pub(super) const fn mode(&self) -> Mode {
        match self {
            Self::Aes { .. } => Mode::Aes,
            Self::Lrp { .. } => Mode::Lrp,
        }
    }

    /// The whole MAC of some content.
    pub(super) fn mac(&self, content: &[u8]) -> [u8; 16] {
        match self {
            Self::Aes { mac, .. } => cmac(mac, content),
            Self::Lrp { lrp, .. } => lrp.cmac(content),
        }
    }

    /// Encrypts whole blocks, without padding them.
    pub(super) fn encrypt(&self, at: At, plain: &[u8]) -> Vec<u8> {
        match self {
            Self::Aes { enc, .. } => cbc_encrypt(enc, iv(enc, at), plain),
            Self::Lrp { lrp, .. } => {
                let mut encrypted = plain.to_vec();
                lrp.encrypt(FILE_KEY, &mut at.blocks.to_be_bytes(), &mut encrypted);
                encrypted
            }
        }
    }

    /// Decrypts; `None` if the input is not whole blocks.
    pub(super) fn decrypt(&self, at: At, encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        match self {
            Self::Aes { enc, .. } => cbc_decrypt(enc, iv(enc, at), encrypted),
            Self::Lrp { lrp, .. } => {
                let mut plain = Zeroizing::new(encrypted.to_vec());
                lrp.decrypt(FILE_KEY, &mut at.blocks.to_be_bytes(), &mut plain);
                plain.len().is_multiple_of(16).then_some(plain)
            }
        }
    }

    /// The keys in bytes, to be stored.
    pub(super) fn keys(&self) -> Zeroizing<Vec<u8>> {
        let keys = match self {
            Self::Aes { enc, mac } => [&enc.expose()[..], mac.expose()].concat(),
            Self::Lrp { master, .. } => master.expose().to_vec(),
        };
        Zeroizing::new(keys)
    }
}

/// The IV of AES mode (section 9.1.4).
fn iv(enc: &AesKey, at: At) -> [u8; 16] {
    let label = match at.way {
        Way::Command => [0xA5, 0x5A],
        Way::Answer => [0x5A, 0xA5],
    };
    let mut iv = Block::default();
    iv[..2].copy_from_slice(&label);
    iv[2..6].copy_from_slice(&at.ti);
    iv[6..8].copy_from_slice(&at.counter.to_le_bytes());
    Aes128Enc::new(enc.expose().into()).encrypt_block(&mut iv);
    iv.into()
}

/// The randomness of both sides, in the form that session keys are derived from.
fn context(a: &[u8; 16], b: &[u8; 16]) -> Zeroizing<[u8; 26]> {
    let mut context = Zeroizing::new([0; 26]);
    context[..2].copy_from_slice(&a[..2]);
    for i in 0..6 {
        context[2 + i] = a[2 + i] ^ b[i];
    }
    context[8..18].copy_from_slice(&b[6..]);
    context[18..].copy_from_slice(&a[8..]);
    context
}
