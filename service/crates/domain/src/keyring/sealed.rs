//! Keys that leave under a passphrase: the wrapping key in a backup, and the keys of a factory
//! order. Argon2id derives a key from the passphrase, and AES-256-GCM seals with it.

use std::fmt;

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use super::NONCE;
use crate::entropy::{self, Entropy};

/// Bound into the sealed key, so that no other sealed data can be used in its place.
const PURPOSE: &[u8] = b"tapdesk wrapping key v1";
/// Bound into a sealed file of keys. The file's instructions contain it, so that other programs can
/// open the file, too.
pub const FILE_PURPOSE: &str = "tapdesk factory keys v1";
/// Argon2id with 19 MiB, 2 passes, 1 lane (OWASP Password Storage Cheat Sheet).
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Most memory that a stored record may require: 1 GiB.
const MEMORY_KIB_MAX: u32 = 1024 * 1024;
/// Shortest passphrase, in characters.
const PASSPHRASE_MIN: usize = 12;

/// A passphrase of at least 12 characters.
pub struct Passphrase(Zeroizing<String>);

/// The passphrase is too short to be safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A passphrase has at least {PASSPHRASE_MIN} characters.")]
pub struct ShortPassphrase;

impl Passphrase {
    /// A passphrase as a person wrote it. A line break at its end is not part of it.
    pub fn parse(text: &str) -> Result<Self, ShortPassphrase> {
        let text = text.trim_end_matches(['\r', '\n']);
        if text.chars().count() < PASSPHRASE_MIN {
            return Err(ShortPassphrase);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(redacted)")
    }
}

/// The wrapping key, to be opened with the passphrase it was sealed under.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SealedWrappingKey {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: Bytes,
    nonce: Bytes,
    sealed: Bytes,
}

impl SealedWrappingKey {
    pub(super) fn seal(key: &[u8; 32], passphrase: &Passphrase, entropy: &dyn Entropy) -> Self {
        Self::seal_bytes(key, PURPOSE, passphrase, entropy)
    }

    fn seal_bytes(
        secret: &[u8],
        purpose: &[u8],
        passphrase: &Passphrase,
        entropy: &dyn Entropy,
    ) -> Self {
        let salt = entropy::bytes::<16>(entropy);
        let nonce = entropy::bytes::<NONCE>(entropy);
        let sealed = cipher(passphrase, &salt, MEMORY_KIB, PASSES, LANES)
            .and_then(|cipher| {
                let payload = Payload {
                    msg: secret,
                    aad: purpose,
                };
                cipher.encrypt(&Nonce::from(nonce), payload).ok()
            })
            .expect("the parameters are within their limits");
        Self {
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
            salt: Bytes(salt.to_vec()),
            nonce: Bytes(nonce.to_vec()),
            sealed: Bytes(sealed),
        }
    }

    /// Whether both are the same record, which opens with the same passphrase.
    pub fn is_same(&self, other: &Self) -> bool {
        let parts = |of: &Self| [of.salt.0.clone(), of.nonce.0.clone(), of.sealed.0.clone()];
        parts(self) == parts(other)
    }

    /// The wrapping key; `None` if the passphrase is wrong.
    pub fn open(&self, passphrase: &Passphrase) -> Option<Zeroizing<[u8; 32]>> {
        let opened = self.open_bytes(PURPOSE, passphrase)?;
        <[u8; 32]>::try_from(opened.as_slice())
            .ok()
            .map(Zeroizing::new)
    }

    fn open_bytes(&self, purpose: &[u8], passphrase: &Passphrase) -> Option<Zeroizing<Vec<u8>>> {
        if self.memory_kib > MEMORY_KIB_MAX {
            return None;
        }
        let nonce = <[u8; NONCE]>::try_from(self.nonce.0.as_slice()).ok()?;
        let payload = Payload {
            msg: &self.sealed.0,
            aad: purpose,
        };
        let opened = cipher(
            passphrase,
            &self.salt.0,
            self.memory_kib,
            self.passes,
            self.lanes,
        )?
        .decrypt(&Nonce::from(nonce), payload)
        .ok()?;
        Some(Zeroizing::new(opened))
    }
}

/// A file of keys, to be opened with the passphrase it was sealed under.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealedKeys(SealedWrappingKey);

impl SealedKeys {
    /// Seals the keys of an order. It takes much time and memory on purpose, because each guess
    /// then costs the same.
    pub fn seal(keys: &str, passphrase: &Passphrase, entropy: &dyn Entropy) -> Self {
        let purpose = FILE_PURPOSE.as_bytes();
        Self(SealedWrappingKey::seal_bytes(
            keys.as_bytes(),
            purpose,
            passphrase,
            entropy,
        ))
    }

    /// The keys; `None` if the passphrase is wrong.
    pub fn open(&self, passphrase: &Passphrase) -> Option<Zeroizing<String>> {
        let opened = self.0.open_bytes(FILE_PURPOSE.as_bytes(), passphrase)?;
        String::from_utf8(opened.to_vec()).ok().map(Zeroizing::new)
    }
}

fn cipher(
    passphrase: &Passphrase,
    salt: &[u8],
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> Option<Aes256Gcm> {
    let parameters = Params::new(memory_kib, passes, lanes, Some(32)).ok()?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
        .hash_password_into(passphrase.0.as_bytes(), salt, &mut *key)
        .ok()?;
    Some(Aes256Gcm::new((&*key).into()))
}

/// Bytes, in JSON as Base64.
#[derive(Clone, Debug)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD
            .decode(text)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;

    #[test]
    fn a_sealed_key_opens_with_its_passphrase_alone() {
        let passphrase = |text| Passphrase::parse(text).unwrap();
        let sealed = SealedWrappingKey::seal(&[7; 32], &passphrase("correct horse\n"), &OsEntropy);
        let json = serde_json::to_string(&sealed).unwrap();
        let stored: SealedWrappingKey = serde_json::from_str(&json).unwrap();
        let opened = stored.open(&passphrase("correct horse"));
        assert_eq!(opened.as_deref(), Some(&[7; 32]));
        assert!(stored.open(&passphrase("battery staple")).is_none());
        assert_eq!(Passphrase::parse("too short").unwrap_err(), ShortPassphrase);
    }

    #[test]
    fn a_file_of_keys_is_no_wrapping_key_and_opens_with_its_passphrase_alone() {
        let passphrase = |text| Passphrase::parse(text).unwrap();
        let right = passphrase("correct horse");
        let sealed = SealedKeys::seal("position,key_0", &right, &OsEntropy);
        let json = serde_json::to_string(&sealed).unwrap();
        assert!(!json.contains("position"));
        let stored: SealedKeys = serde_json::from_str(&json).unwrap();
        assert_eq!(stored.open(&right).unwrap().as_str(), "position,key_0");
        assert!(stored.open(&passphrase("battery staple")).is_none());
        let other: SealedWrappingKey = serde_json::from_str(&json).unwrap();
        assert!(other.open(&right).is_none());
    }
}
