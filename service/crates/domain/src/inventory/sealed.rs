//! Keys in their stored form.

use std::fmt;

use zeroize::Zeroizing;

use crate::entropy::Entropy;
use crate::id::MasterKeyId;
use crate::inventory::SealedMasterKey;
use crate::keyring::{Keyring, KeyringError, OTHER_KEYS, WrappedKeys};
use inlay::derivation::MasterSecret;
use inlay::key::{AesKey, KeyFingerprint, Keys, SomeKey};
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

    /// Seals a chip's keys 0, 3 and 4.
    pub fn seal_others(
        keys: &[AesKey; OTHER_KEYS],
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        let bytes = Zeroizing::new(keys.each_ref().map(|key| *key.expose()));
        Self::seal_bytes(bytes.as_flattened(), keyring, entropy)
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
        /// The keys that are stored with the inlay.
        kept: KeptKeys,
    },
}

/// Keys that are stored with an inlay although it has a master key, wrapped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KeptKeys {
    /// The meta read key, if it is not the master key's, or if deriving it takes milliseconds,
    /// which is too long for a tap.
    pub meta: Option<Vec<u8>>,
    /// The file read key, if deriving it takes milliseconds.
    pub file: Option<Vec<u8>>,
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
        Self::of_derived(master, &keys, keyring, entropy)
    }

    /// The keys that a master key derived for a chip.
    pub fn of_derived(
        master: &SealedMasterKey,
        keys: &Keys,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        let kept = if master.fields.derivation.is_slow() {
            KeptKeys {
                meta: Some(keyring.wrap(keys.for_picc_data().expose(), entropy)?),
                file: Some(keyring.wrap(keys.file.expose(), entropy)?),
            }
        } else {
            KeptKeys::default()
        };
        Ok(Self::Diversified {
            master_key_id: master.id,
            meta: keys.for_picc_data().fingerprint(),
            file: keys.file.fingerprint(),
            factory: master.factory(),
            kept,
        })
    }

    /// The same keys, but with a meta read key that is not the master key's: NXP's own layout has
    /// one meta read key for all chips, and file read keys of a master key.
    #[must_use]
    pub fn with_meta(self, own: SealedKey) -> Self {
        match self {
            Self::Own { file, .. } => Self::Own {
                meta: Some(own),
                file,
            },
            Self::Diversified {
                master_key_id,
                file,
                factory,
                kept,
                ..
            } => Self::Diversified {
                master_key_id,
                meta: own.fingerprint,
                file,
                factory,
                kept: KeptKeys {
                    meta: Some(own.wrapped),
                    ..kept
                },
            },
        }
    }

    /// The keys for the keyring to open. `master` is their master key, if they have one; `None`
    /// without the master key that they need.
    pub fn wrapped(&self, master: Option<&SealedMasterKey>) -> Option<WrappedKeys> {
        match self {
            Self::Own { meta, file } => Some(WrappedKeys::Own {
                meta: meta.as_ref().map(|key| key.wrapped.clone()),
                file: file.wrapped.clone(),
            }),
            Self::Diversified {
                kept: KeptKeys { meta, file },
                ..
            } => match file {
                Some(file) => Some(WrappedKeys::Own {
                    meta: meta.clone(),
                    file: file.clone(),
                }),
                None => master.map(|master| master.wrapped_keys(meta.clone())),
            },
        }
    }

    /// The meta read key, if it is certain that it is not the master key's.
    pub fn own_meta(self) -> Option<SealedKey> {
        match self {
            Self::Own { meta, .. } => meta,
            Self::Diversified {
                meta: fingerprint,
                kept:
                    KeptKeys {
                        meta: Some(wrapped),
                        file: None,
                    },
                ..
            } => Some(SealedKey {
                wrapped,
                fingerprint,
            }),
            Self::Diversified { .. } => None,
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
