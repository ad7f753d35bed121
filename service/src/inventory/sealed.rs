//! Keys as they are stored.

use std::fmt;

use crate::entropy::Entropy;
use crate::id::MasterKeyId;
use crate::inlay::key::{AesKey, KeyFingerprint};
use crate::inlay::{Mirror, Uid};
use crate::inventory::SealedMasterKey;
use crate::keyring::{Keyring, KeyringError};

/// A key as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// Encrypted by the keyring.
    pub wrapped: Vec<u8>,
    /// What it is known by again.
    pub fingerprint: KeyFingerprint,
}

impl SealedKey {
    /// Seals a key.
    pub fn seal(
        key: &AesKey,
        keyring: &Keyring,
        entropy: &dyn Entropy,
    ) -> Result<Self, KeyringError> {
        Ok(Self {
            wrapped: keyring.wrap(key, entropy)?,
            fingerprint: key.fingerprint(),
        })
    }
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedKey({})", self.fingerprint.check())
    }
}

/// Where an inlay's keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedKeys {
    /// They are its own.
    Own {
        /// The meta read key; a plain mirror needs none.
        meta: Option<SealedKey>,
        /// The file read key.
        file: SealedKey,
    },
    /// They are diversified from a master key (AN10922) for this chip.
    Diversified {
        /// The master key.
        master_key_id: MasterKeyId,
        /// The meta read key.
        meta: KeyFingerprint,
        /// The file read key.
        file: KeyFingerprint,
        /// Whether the master key is the all-zero factory key.
        factory: bool,
    },
}

impl SealedKeys {
    /// The keys of the chip `uid` from a master key.
    pub fn diversified(
        master: &SealedMasterKey,
        uid: Uid,
        keyring: &Keyring,
    ) -> Result<Self, KeyringError> {
        let keys = keyring.inlay_keys(&master.wrapped_keys(), uid, Mirror::Encrypted)?;
        Ok(Self::Diversified {
            master_key_id: master.id,
            meta: keys.for_picc_data().fingerprint(),
            file: keys.file.fingerprint(),
            factory: master.factory(),
        })
    }

    /// The fingerprint of the meta read key.
    pub fn meta(&self) -> Option<KeyFingerprint> {
        match self {
            Self::Own { meta, .. } => meta.as_ref().map(|key| key.fingerprint),
            Self::Diversified { meta, .. } => Some(*meta),
        }
    }

    /// The fingerprint of the file read key.
    pub fn file(&self) -> KeyFingerprint {
        match self {
            Self::Own { file, .. } => file.fingerprint,
            Self::Diversified { file, .. } => *file,
        }
    }

    /// The master key they are diversified from.
    pub fn master_key_id(&self) -> Option<MasterKeyId> {
        match self {
            Self::Own { .. } => None,
            Self::Diversified { master_key_id, .. } => Some(*master_key_id),
        }
    }

    /// Whether everyone knows one of them: a code made with it proves nothing.
    pub fn factory(&self) -> bool {
        let derived = matches!(self, Self::Diversified { factory: true, .. });
        derived || self.file().is_factory() || self.meta().is_some_and(KeyFingerprint::is_factory)
    }

    /// Whether these are the same keys, wherever they come from.
    pub fn same_keys(&self, other: &Self) -> bool {
        self.file() == other.file() && self.meta() == other.meta()
    }
}
