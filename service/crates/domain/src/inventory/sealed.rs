//! Keys in their stored form.

use std::fmt;

use crate::entropy::Entropy;
use crate::id::MasterKeyId;
use crate::inventory::SealedMasterKey;
use crate::keyring::{Keyring, KeyringError, WrappedKeys};
use inlay::derivation::MasterSecret;
use inlay::key::{AesKey, KeyFingerprint, SomeKey};
use inlay::{Technology, Uid};

/// A key in its stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// Encrypted by the keyring.
    pub wrapped: Vec<u8>,
    /// The value by which it is recognised.
    pub fingerprint: KeyFingerprint,
}

impl SealedKey {
    /// Seals an AES key.
    pub fn seal(
        key: &AesKey,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        Self::seal_bytes(key.expose(), keyring, entropy)
    }

    /// Seals a key of any technology.
    pub fn seal_some(
        key: &SomeKey,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        Self::seal_bytes(key.expose(), keyring, entropy)
    }

    /// Seals a master key.
    pub fn seal_master(
        key: &MasterSecret,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        Self::seal_bytes(key.expose(), keyring, entropy)
    }

    fn seal_bytes(
        key: &[u8],
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        Ok(Self {
            wrapped: keyring.wrap(key, entropy)?,
            fingerprint: KeyFingerprint::of_bytes(key),
        })
    }
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedKey({})", self.fingerprint.check())
    }
}

/// The source of an inlay's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedKeys {
    /// The inlay's own keys.
    Own {
        /// The meta read key; `None` for codes in clear.
        meta: Option<SealedKey>,
        /// The file read key.
        file: SealedKey,
    },
    /// Keys derived from a master key for this chip.
    Diversified {
        /// Master key of the derivation.
        master_key_id: MasterKeyId,
        /// Fingerprint of the meta read key.
        meta: KeyFingerprint,
        /// Fingerprint of the file read key.
        file: KeyFingerprint,
        /// Whether the master key is the all-zero factory key.
        factory: bool,
        /// The keys themselves, if deriving them takes milliseconds, which is too long for a tap.
        kept: Option<KeptKeys>,
    },
}

/// Derived keys that are stored because deriving them takes long.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptKeys {
    /// The meta read key, wrapped.
    pub meta: Vec<u8>,
    /// The file read key, wrapped.
    pub file: Vec<u8>,
}

impl fmt::Debug for KeptKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptKeys(wrapped)")
    }
}

impl SealedKeys {
    /// The keys of the chip `uid` from a master key.
    pub fn diversified(
        master: &SealedMasterKey,
        uid: Uid,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        let derivation = &master.fields.derivation;
        let keys = keyring.derived(&master.fields.key.wrapped, derivation, uid)?;
        let kept = if derivation.is_slow() {
            Some(KeptKeys {
                meta: keyring.wrap(keys.for_picc_data().expose(), entropy)?,
                file: keyring.wrap(keys.file.expose(), entropy)?,
            })
        } else {
            None
        };
        Ok(Self::Diversified {
            master_key_id: master.id,
            meta: keys.for_picc_data().fingerprint(),
            file: keys.file.fingerprint(),
            factory: master.factory(),
            kept,
        })
    }

    /// The stored keys, for the keyring to open; `None` if they are derived each time.
    pub fn wrapped(&self) -> Option<WrappedKeys> {
        match self {
            Self::Own { meta, file } => Some(WrappedKeys::Own {
                meta: meta.as_ref().map(|key| key.wrapped.clone()),
                file: file.wrapped.clone(),
            }),
            Self::Diversified { kept, .. } => kept.as_ref().map(|kept| WrappedKeys::Own {
                meta: Some(kept.meta.clone()),
                file: kept.file.clone(),
            }),
        }
    }

    /// The fingerprint of the meta read key.
    pub fn meta(&self) -> Option<KeyFingerprint> {
        match self {
            Self::Own { meta, .. } => meta.as_ref().map(|key| key.fingerprint),
            Self::Diversified { meta, .. } => Some(*meta),
        }
    }

    /// The fingerprint of the key that decrypts PICC data. Without a meta key it is the file key.
    pub fn for_picc_data(&self) -> KeyFingerprint {
        self.meta().unwrap_or_else(|| self.file())
    }

    /// The fingerprint of the file read key.
    pub fn file(&self) -> KeyFingerprint {
        match self {
            Self::Own { file, .. } => file.fingerprint,
            Self::Diversified { file, .. } => *file,
        }
    }

    /// The master key they are derived from.
    pub fn master_key_id(&self) -> Option<MasterKeyId> {
        match self {
            Self::Own { .. } => None,
            Self::Diversified { master_key_id, .. } => Some(*master_key_id),
        }
    }

    /// Whether one of the keys of the chip `uid` is publicly known: a code made with it proves
    /// nothing.
    pub fn factory(&self, technology: Technology, uid: Uid) -> bool {
        let derived = matches!(self, Self::Diversified { factory: true, .. });
        let known = |key| technology.is_factory_key(uid, key);
        derived || known(self.file()) || self.meta().is_some_and(known)
    }

    /// Whether both have the same keys, from any source.
    pub fn same_keys(&self, other: &Self) -> bool {
        self.file() == other.file() && self.meta() == other.meta()
    }
}
