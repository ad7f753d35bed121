//! The cryptography of one read of an NTAG 424 DNA: session keys, PICC data
//! and SDMMAC (data sheet section 9.3, AN12196 section 3).
//!
//! Counters are numbers here; the chip calculates with them LSB first.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128Dec, Aes128Enc};

use super::Mirrored;
use crate::Uid;
use crate::key::{AesKey, cmac};

/// The purpose of a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `KSesSDMFileReadENC`: encrypts file data.
    Encryption,
    /// `KSesSDMFileReadMAC`: makes the SDMMAC.
    Mac,
}

/// The session key of one read (data sheet section 9.3.9.1): the CMAC of SV1 or SV2, which is a
/// label, 0001h, 0080h (128 bits), and UID and counter, if the chip mirrors them.
pub fn session_key(file_key: &AesKey, purpose: Purpose, mirrored: Mirrored) -> AesKey {
    let mut vector = [0; 16];
    vector[..2].copy_from_slice(match purpose {
        Purpose::Encryption => &[0xC3, 0x3C],
        Purpose::Mac => &[0x3C, 0xC3],
    });
    vector[2..6].copy_from_slice(&[0x00, 0x01, 0x00, 0x80]);
    mirrored.write_to(&mut vector[6..]);
    AesKey::from_bytes(cmac(file_key, &vector))
}

/// `KSesSDMFileReadENC` with UID and counter mirrored.
pub fn encryption_session_key(file_key: &AesKey, uid: Uid, counter: u32) -> AesKey {
    session_key(file_key, Purpose::Encryption, Mirrored::both(uid, counter))
}

/// `KSesSDMFileReadMAC` with UID and counter mirrored.
pub fn mac_session_key(file_key: &AesKey, uid: Uid, counter: u32) -> AesKey {
    session_key(file_key, Purpose::Mac, Mirrored::both(uid, counter))
}

/// The SDMMAC of `input`: the bytes at the odd indices of its CMAC under the
/// session key (data sheet section 9.3.8).
pub fn sdmmac(session_key: &AesKey, input: &[u8]) -> [u8; 8] {
    odd_bytes(cmac(session_key, input))
}

/// The bytes at the odd indices, by which NXP's chips shorten a CMAC.
pub(crate) fn odd_bytes(full: [u8; 16]) -> [u8; 8] {
    std::array::from_fn(|i| full[2 * i + 1])
}

/// Decrypts file data in place, whole blocks, without padding (data sheet section 9.3.6).
pub(crate) fn decrypt_file(session_key: &AesKey, mirrored: Mirrored, data: &mut [u8]) {
    #[cfg(any(test, feature = "effort"))]
    crate::effort::count(data.len() / 16);
    let cipher = Aes128Dec::new(session_key.expose().into());
    let mut previous = file_iv(session_key, mirrored);
    for block in data.as_chunks_mut::<16>().0 {
        let encrypted = *block;
        let mut plain = Array::from(encrypted);
        cipher.decrypt_block(&mut plain);
        *block = (u128::from_be_bytes(plain.into()) ^ previous).to_be_bytes();
        previous = u128::from_be_bytes(encrypted);
    }
}

/// Encrypts file data in place as the chip does, whole blocks.
pub(crate) fn encrypt_file(session_key: &AesKey, mirrored: Mirrored, data: &mut [u8]) {
    let cipher = Aes128Enc::new(session_key.expose().into());
    let mut previous = file_iv(session_key, mirrored);
    for block in data.as_chunks_mut::<16>().0 {
        let mut mixed = Array::from((u128::from_be_bytes(*block) ^ previous).to_be_bytes());
        cipher.encrypt_block(&mut mixed);
        *block = mixed.into();
        previous = u128::from_be_bytes(*block);
    }
}

/// The IV of file data: the read counter (LSB first) and zeros, encrypted. AN12196 names the meta
/// key for it in one place; it is the session key.
fn file_iv(session_key: &AesKey, mirrored: Mirrored) -> u128 {
    let mut iv = Array::from([0; 16]);
    iv[..3].copy_from_slice(&mirrored.counter.unwrap_or(0).to_le_bytes()[..3]);
    Aes128Enc::new(session_key.expose().into()).encrypt_block(&mut iv);
    u128::from_be_bytes(iv.into())
}

/// PICC data under the meta key: one block of CBC with a zero IV is the bare cipher.
pub(crate) fn encrypt_block(key: &AesKey, block: [u8; 16]) -> [u8; 16] {
    let mut block = Array::from(block);
    Aes128Enc::new(key.expose().into()).encrypt_block(&mut block);
    block.into()
}

/// Decrypts PICC data, one block.
pub(crate) fn decrypt_block(key: &AesKey, block: [u8; 16]) -> [u8; 16] {
    #[cfg(any(test, feature = "effort"))]
    crate::effort::count(1);
    let mut block = Array::from(block);
    Aes128Dec::new(key.expose().into()).decrypt_block(&mut block);
    block.into()
}

/// The content of `PICCENCData` when UID and counter are mirrored (data sheet section 9.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiccData {
    /// UID of the chip.
    pub uid: Uid,
    /// The read counter, 24 bits.
    pub counter: u32,
}

impl PiccData {
    /// `PICCENCData` under the meta key; `padding` is the chip's own randomness.
    pub fn encrypt(self, meta_key: &AesKey, padding: [u8; 5]) -> [u8; 16] {
        let mut random = [0; 16];
        random[11..].copy_from_slice(&padding);
        let block = Mirrored::both(self.uid, self.counter).block(random);
        encrypt_block(meta_key, block)
    }

    /// The content of `PICCENCData`; `None` if its tag does not show both values, as with 255 of
    /// 256 wrong keys.
    pub fn decrypt(meta_key: &AesKey, encrypted: [u8; 16]) -> Option<Self> {
        match Mirrored::from_block(decrypt_block(meta_key, encrypted))? {
            Mirrored {
                uid: Some(uid),
                counter: Some(counter),
            } => Some(Self { uid, counter }),
            _ => None,
        }
    }
}
