//! The key that wraps inlay keys at rest (invariant 5): AES-256-GCM.

mod backup_key;
pub mod file;
mod sealed;
mod wrapped;

use std::fmt;
use std::path::Path;

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use zeroize::Zeroizing;

pub use backup_key::BackupKey;
pub use file::KeyFileError;
pub use sealed::FILE_PURPOSE;
pub use sealed::{Passphrase, SealedKeys, SealedWrappingKey, ShortPassphrase};
pub use wrapped::WrappedKeys;

use crate::entropy::{self, Entropy};
use inlay::derivation::{Derivation, MasterSecret};
use inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey};
use inlay::technology::Family;
use inlay::{Mirror, Technology, Uid};

/// Bound into every wrapped key, so that a key that was wrapped for another purpose cannot be used
/// here.
const PURPOSE: &[u8] = b"tapdesk inlay key v1";
const NONCE: usize = 12;
/// How many keys a chip has besides its meta read key and file read key: keys 0, 3 and 4.
pub const OTHER_KEYS: usize = 3;

/// Wraps and unwraps inlay keys. It is locked if it has no key. Then only operations that need an
/// inlay's key fail.
pub struct Keyring(State);

enum State {
    Open {
        cipher: Box<Aes256Gcm>,
        key: Zeroizing<[u8; 32]>,
    },
    Locked(String),
}

/// Why an inlay's key cannot be opened. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// There is no wrapping key.
    #[error("Inlay keys are locked: {0}")]
    Locked(String),
    /// The wrapping key is not the one that wrapped this key.
    #[error("The inlay's keys were stored under another wrapping key than the present one.")]
    OtherKey,
}

impl Keyring {
    /// A keyring over a wrapping key.
    pub fn open(key: &[u8; 32]) -> Self {
        Self(State::Open {
            cipher: Box::new(Aes256Gcm::new(key.into())),
            key: Zeroizing::new(*key),
        })
    }

    /// A keyring without its key; `why` is a sentence for people.
    pub fn locked(why: impl Into<String>) -> Self {
        Self(State::Locked(why.into()))
    }

    /// The keyring with the key in `file` (64 hex digits). If the file does not exist and `create`
    /// is true, it is created (mode 0600); otherwise the keyring is locked.
    pub fn from_file(
        file: &Path,
        create: bool,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyFileError> {
        if let Some(key) = file::read(file)? {
            Ok(Self::open(&key))
        } else if create {
            let key = Zeroizing::new(entropy::bytes::<32>(entropy));
            file::create(file, &key)?;
            Ok(Self::open(&key))
        } else {
            let why = format!("the key file {} is missing.", file.display());
            Ok(Self::locked(why))
        }
    }

    /// The keyring for a database that holds `wrapped` among its keys. It is locked if its key did
    /// not wrap them, so that no key is stored under another one.
    #[must_use]
    pub fn for_stored(self, wrapped: Option<&[u8]>) -> Self {
        match wrapped.map(|wrapped| self.unwrap(wrapped)) {
            Some(Err(KeyringError::OtherKey)) => {
                Self::locked("the present key is not the one they were stored under.")
            }
            _ => self,
        }
    }

    /// Fails if it is locked.
    ///
    /// # Errors
    ///
    /// [`KeyringError::Locked`], with the reason.
    pub fn check_open(&self) -> Result<(), KeyringError> {
        self.cipher().map(drop)
    }

    /// Why it is locked, if it is.
    pub fn why_locked(&self) -> Option<&str> {
        match &self.0 {
            State::Open { .. } => None,
            State::Locked(why) => Some(why),
        }
    }

    /// The stored form of a key.
    pub fn wrap(&self, key: &[u8], entropy: &dyn Entropy) -> Result<Vec<u8>, KeyringError> {
        let nonce = entropy::bytes::<NONCE>(entropy);
        let payload = Payload {
            msg: key,
            aad: PURPOSE,
        };
        let sealed = self
            .cipher()?
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| KeyringError::OtherKey)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// The AES key in its stored form `wrapped`.
    pub fn unwrap(&self, wrapped: &[u8]) -> Result<AesKey, KeyringError> {
        self.unwrap_array(wrapped).map(AesKey::from_bytes)
    }

    /// A chip's keys 0, 3 and 4 in their stored form `wrapped`.
    pub fn unwrap_others(&self, wrapped: &[u8]) -> Result<[AesKey; OTHER_KEYS], KeyringError> {
        let bytes = Zeroizing::new(self.unwrap_array::<{ OTHER_KEYS * 16 }>(wrapped)?);
        let (keys, _) = bytes.as_chunks::<16>();
        Ok(std::array::from_fn(|at| AesKey::from_bytes(keys[at])))
    }

    /// The stored form of a secret that is not an inlay's key.
    pub fn wrap_secret(
        &self,
        secret: &[u8],
        entropy: &dyn Entropy,
    ) -> Result<Vec<u8>, KeyringError> {
        self.wrap(secret, entropy)
    }

    /// The secret in its stored form `wrapped`.
    pub fn unwrap_secret(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
        self.unwrap_bytes(wrapped)
    }

    fn unwrap_array<const N: usize>(&self, wrapped: &[u8]) -> Result<[u8; N], KeyringError> {
        let bytes = self.unwrap_bytes(wrapped)?;
        <[u8; N]>::try_from(bytes.as_slice()).map_err(|_| KeyringError::OtherKey)
    }

    fn unwrap_bytes(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
        #[cfg(any(test, feature = "effort"))]
        inlay::effort::count(1);
        let cipher = self.cipher()?;
        let (nonce, sealed) = wrapped
            .split_first_chunk::<NONCE>()
            .ok_or(KeyringError::OtherKey)?;
        let payload = Payload {
            msg: sealed,
            aad: PURPOSE,
        };
        let opened = cipher
            .decrypt(&Nonce::from(*nonce), payload)
            .map_err(|_| KeyringError::OtherKey)?;
        Ok(Zeroizing::new(opened))
    }

    /// The keys of the inlay `uid`, which writes the canonical form, from their stored form.
    pub fn canonical_keys(
        &self,
        stored: &WrappedKeys,
        uid: Uid,
        mirror: Mirror,
    ) -> Result<Keys, KeyringError> {
        let mut keys = self.aes_keys(stored, uid)?;
        if mirror == Mirror::Plain && matches!(stored, WrappedKeys::Master { .. }) {
            keys.meta = None;
        }
        Ok(keys)
    }

    /// The keys of the inlay `uid` of any technology, from their stored form.
    pub fn inlay_keys(
        &self,
        stored: Option<&WrappedKeys>,
        uid: Uid,
        technology: Technology,
    ) -> Result<InlayKeys, KeyringError> {
        Ok(match (stored, technology.family()) {
            (None, _) => InlayKeys::None,
            (Some(WrappedKeys::Own { file, .. }), Family::Sic43Nt) => {
                InlayKeys::Rolling(Sic43ntKey::from_bytes(self.unwrap_array(file)?))
            }
            (Some(stored), _) => InlayKeys::Aes(self.aes_keys(stored, uid)?),
        })
    }

    fn aes_keys(&self, stored: &WrappedKeys, uid: Uid) -> Result<Keys, KeyringError> {
        match stored {
            WrappedKeys::Own { meta, file } => Ok(Keys {
                meta: meta.as_ref().map(|meta| self.unwrap(meta)).transpose()?,
                file: self.unwrap(file)?,
            }),
            WrappedKeys::Master {
                meta,
                key,
                derivation,
                ..
            } => {
                let derived = self.derived(key, derivation, uid)?;
                let own = meta.as_ref().map(|meta| self.unwrap(meta)).transpose()?;
                Ok(Keys {
                    meta: own.or(derived.meta),
                    file: derived.file,
                })
            }
        }
    }

    /// The keys of the inlay `uid` from a master key in its stored form `wrapped`.
    pub fn derived(
        &self,
        wrapped: &[u8],
        derivation: &Derivation,
        uid: Uid,
    ) -> Result<Keys, KeyringError> {
        let master = self.master_secret(wrapped)?;
        // Its length was checked when it was stored.
        let keys = derivation.keys(&master, uid);
        keys.map_err(|_| KeyringError::OtherKey)
    }

    /// All five keys of the chip `uid` from a master key in its stored form `wrapped`, by slot;
    /// `None` if its scheme does not define them.
    pub fn derived_chip_keys(
        &self,
        wrapped: &[u8],
        derivation: &Derivation,
        uid: Uid,
    ) -> Result<Option<[AesKey; 5]>, KeyringError> {
        let master = self.master_secret(wrapped)?;
        let keys = derivation.chip_keys(&master, uid);
        keys.map_err(|_| KeyringError::OtherKey)
    }

    /// A master key in its stored form `wrapped`.
    pub fn master_secret(&self, wrapped: &[u8]) -> Result<MasterSecret, KeyringError> {
        let bytes = self.unwrap_bytes(wrapped)?;
        Ok(MasterSecret::from_bytes(&bytes))
    }

    /// The wrapping key under a passphrase, for a backup. It takes much time and memory on purpose,
    /// because each guess then costs the same.
    pub fn seal(
        &self,
        passphrase: &Passphrase,
        entropy: &dyn Entropy,
    ) -> Result<SealedWrappingKey, KeyringError> {
        match &self.0 {
            State::Open { key, .. } => Ok(SealedWrappingKey::seal(key, passphrase, entropy)),
            State::Locked(why) => Err(KeyringError::Locked(why.clone())),
        }
    }

    /// The key that seals backups.
    pub fn backup_key(&self) -> Result<BackupKey, KeyringError> {
        match &self.0 {
            State::Open { key, .. } => Ok(BackupKey::of(key)),
            State::Locked(why) => Err(KeyringError::Locked(why.clone())),
        }
    }

    fn cipher(&self) -> Result<&Aes256Gcm, KeyringError> {
        match &self.0 {
            State::Open { cipher, .. } => Ok(cipher),
            State::Locked(why) => Err(KeyringError::Locked(why.clone())),
        }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.why_locked().is_some() {
            "Keyring(locked)"
        } else {
            "Keyring(open)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;

    #[test]
    fn a_wrapped_key_opens_with_its_wrapping_key_alone() {
        let key = AesKey::from_bytes([0x5a; 16]);
        let wrapped = Keyring::open(&[1; 32])
            .wrap(key.expose(), &OsEntropy)
            .unwrap();
        assert!(!wrapped.windows(16).any(|window| window == key.expose()));
        assert_eq!(Keyring::open(&[1; 32]).unwrap(&wrapped).unwrap(), key);
        assert_eq!(
            Keyring::open(&[2; 32]).unwrap(&wrapped).unwrap_err(),
            KeyringError::OtherKey
        );
        assert_eq!(
            Keyring::open(&[1; 32]).unwrap(&wrapped[..20]).unwrap_err(),
            KeyringError::OtherKey
        );
        let stored = Some(wrapped.as_slice());
        for (keyring, stored, locked) in [
            (Keyring::open(&[1; 32]), stored, false),
            (Keyring::open(&[2; 32]), stored, true),
            (Keyring::open(&[2; 32]), None, false),
        ] {
            assert_eq!(keyring.for_stored(stored).why_locked().is_some(), locked);
        }
        let locked = Keyring::locked("there is none.")
            .unwrap(&wrapped)
            .unwrap_err();
        assert_eq!(locked.to_string(), "Inlay keys are locked: there is none.");
    }
}
