//! The cryptography of one read of an NTAG 424 DNA: session keys, PICC data
//! and SDMMAC (data sheet section 9.3, AN12196 section 3).
//!
//! Counters are numbers here; the chip calculates with them LSB first.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128Dec, Aes128Enc};
use cmac::{Cmac, Mac};

use crate::inlay::Uid;
use crate::inlay::key::AesKey;

/// The AES-CMAC of `input` (NIST SP 800-38B), 16 bytes.
pub fn cmac(key: &AesKey, input: &[u8]) -> [u8; 16] {
    Cmac::<Aes128Enc>::new(key.expose().into())
        .chain_update(input)
        .finalize()
        .into_bytes()
        .into()
}

/// `KSesSDMFileReadENC`, the session key that encrypts file data (data sheet section 9.3.9.1).
pub fn encryption_session_key(file_key: &AesKey, uid: Uid, counter: u32) -> AesKey {
    let sv1 = session_vector([0xC3, 0x3C], uid, counter);
    AesKey::from_bytes(cmac(file_key, &sv1))
}

/// `KSesSDMFileReadMAC`, the session key of the SDMMAC (data sheet section 9.3.9.1).
pub fn mac_session_key(file_key: &AesKey, uid: Uid, counter: u32) -> AesKey {
    let sv2 = session_vector([0x3C, 0xC3], uid, counter);
    AesKey::from_bytes(cmac(file_key, &sv2))
}

/// SV1 or SV2 with UID and counter mirrored: label, 0001h, 0080h (128 bits), UID, counter.
fn session_vector(label: [u8; 2], uid: Uid, counter: u32) -> [u8; 16] {
    let mut vector = [0; 16];
    vector[..2].copy_from_slice(&label);
    vector[2..6].copy_from_slice(&[0x00, 0x01, 0x00, 0x80]);
    vector[6..13].copy_from_slice(&uid.bytes());
    vector[13..].copy_from_slice(&counter.to_le_bytes()[..3]);
    vector
}

/// The SDMMAC of `input`: the bytes at the odd indices of its CMAC under the
/// session key (data sheet section 9.3.8).
pub fn sdmmac(session_key: &AesKey, input: &[u8]) -> [u8; 8] {
    let full = cmac(session_key, input);
    std::array::from_fn(|i| full[2 * i + 1])
}

/// What `PICCENCData` carries when UID and counter are mirrored (data sheet section 9.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiccData {
    /// The chip's UID.
    pub uid: Uid,
    /// The read counter, 24 bits.
    pub counter: u32,
}

impl PiccData {
    /// `PICCDataTag` of UID and counter mirrored, with a UID of 7 bytes.
    const TAG: u8 = 0xC7;

    /// `PICCENCData` under the meta key; `padding` is the chip's own randomness.
    pub fn encrypt(self, meta_key: &AesKey, padding: [u8; 5]) -> [u8; 16] {
        let mut block = [Self::TAG; 16];
        block[1..8].copy_from_slice(&self.uid.bytes());
        block[8..11].copy_from_slice(&self.counter.to_le_bytes()[..3]);
        block[11..].copy_from_slice(&padding);
        // One block of CBC with a zero IV is the bare cipher.
        let mut block = Array::from(block);
        Aes128Enc::new(meta_key.expose().into()).encrypt_block(&mut block);
        block.into()
    }

    /// The content of `PICCENCData`; `None` where the tag says something else, as
    /// 255 of 256 wrong keys have it.
    pub fn decrypt(meta_key: &AesKey, encrypted: [u8; 16]) -> Option<Self> {
        let mut block = Array::from(encrypted);
        Aes128Dec::new(meta_key.expose().into()).decrypt_block(&mut block);
        let [tag, u0, u1, u2, u3, u4, u5, u6, c0, c1, c2, ..] = block.0;
        (tag == Self::TAG).then_some(Self {
            uid: Uid::from_bytes([u0, u1, u2, u3, u4, u5, u6]),
            counter: u32::from_le_bytes([c0, c1, c2, 0]),
        })
    }
}
