//! A key from which the keys of many inlays are derived, as it is stored.

use crate::clock::Timestamp;
use crate::id::MasterKeyId;
use crate::inlay::derivation::Derivation;
use crate::inventory::SealedKey;
use crate::keyring::WrappedKeys;
use crate::revision::{Revised, Revision};

/// A master key. All but its name is as it was created.
#[derive(Clone, Debug)]
pub struct SealedMasterKey {
    /// Its identifier.
    pub id: MasterKeyId,
    /// What it is and how it is used.
    pub fields: MasterKeyFields,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The writable members of a master key.
#[derive(Clone, Debug)]
pub struct MasterKeyFields {
    /// Its name. Need not be unique.
    pub name: String,
    /// The key.
    pub key: SealedKey,
    /// How the keys of an inlay follow from it.
    pub derivation: Derivation,
}

/// All but its name is as it was created.
impl Revised for SealedMasterKey {
    fn revision(&self) -> Revision {
        Revision::of(&self.fields.name)
    }
}

impl SealedMasterKey {
    /// The master key as an inlay has it.
    pub fn wrapped_keys(&self) -> WrappedKeys {
        WrappedKeys::Master {
            id: self.id,
            key: self.fields.key.wrapped.clone(),
            derivation: self.fields.derivation.clone(),
        }
    }

    /// Whether it is the all-zero factory key.
    pub fn factory(&self) -> bool {
        self.fields.key.fingerprint.is_factory()
    }
}
