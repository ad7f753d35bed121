//! The two key schemes of sdm-backend.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};

use crate::Uid;
use crate::key::{AesKey, cmac};

/// Rounds of PBKDF2 in the older scheme.
const LEGACY_ROUNDS: u32 = 5_000;

/// Version of the key scheme, which decides the derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdmBackendVersion {
    /// Version 1, of the "NFC Developer App": PBKDF2, two times 5,000 rounds for an inlay.
    Legacy,
    /// Version 2, since 2023-01-24.
    Standard,
}

#[cfg(feature = "serde")]
impl serde::Serialize for SdmBackendVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(match self {
            Self::Legacy => 1,
            Self::Standard => 2,
        })
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SdmBackendVersion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            1 => Ok(Self::Legacy),
            2 => Ok(Self::Standard),
            _ => Err(serde::de::Error::custom("sdm_backend has versions 1 and 2")),
        }
    }
}

impl SdmBackendVersion {
    /// The key in a slot of the chip `uid`. The all-zero master key gives zero keys, for tests.
    pub fn tag_key(self, master: &[u8], uid: Uid, slot: u8) -> AesKey {
        if is_zero(master) {
            return AesKey::FACTORY;
        }
        AesKey::from_bytes(match self {
            Self::Legacy => pbkdf2(master, &[b"key", &uid.bytes()[..], &[slot]].concat()),
            Self::Standard => {
                let base = hmac_sha256(master, b"DivBaseKey");
                let slot_master = truncated(master, &[b"SlotMasterKey", &[slot][..]].concat());
                let input = [&[0x01][..], &truncated(&base, &uid.bytes())].concat();
                cmac(&AesKey::from_bytes(slot_master), &input)
            }
        })
    }

    /// The key in a slot that all inlays share.
    pub fn shared_key(self, master: &[u8], slot: u8) -> AesKey {
        if is_zero(master) {
            return AesKey::FACTORY;
        }
        AesKey::from_bytes(match self {
            Self::Legacy => pbkdf2(master, &[b"key_no_uid", &[slot][..]].concat()),
            // There is only one, whatever its slot.
            Self::Standard => truncated(master, b"PICCDataKey"),
        })
    }
}

fn is_zero(master: &[u8]) -> bool {
    master == [0; 16]
}

fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.chain_update(message).finalize().into_bytes().into()
}

fn truncated(key: &[u8], message: &[u8]) -> [u8; 16] {
    let full = hmac_sha256(key, message);
    std::array::from_fn(|i| full[i])
}

/// The first 16 bytes of PBKDF2-HMAC-SHA512 (RFC 8018): all in its first block.
fn pbkdf2(password: &[u8], salt: &[u8]) -> [u8; 16] {
    let prf = Hmac::<Sha512>::new_from_slice(password).expect("a key of any length");
    let round = |message: &[u8]| -> [u8; 64] {
        prf.clone()
            .chain_update(message)
            .finalize()
            .into_bytes()
            .into()
    };
    let mut block = round(&[salt, &1_u32.to_be_bytes()].concat());
    let mut sum = block;
    for _ in 1..LEGACY_ROUNDS {
        block = round(&block);
        for (sum, byte) in sum.iter_mut().zip(block) {
            *sum ^= byte;
        }
    }
    std::array::from_fn(|i| sum[i])
}
