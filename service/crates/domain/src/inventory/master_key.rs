//! A key from which the keys of many inlays are derived, in its stored form.

use crate::clock::Timestamp;
use crate::id::MasterKeyId;
use crate::inventory::SealedKey;
use crate::keyring::WrappedKeys;
use crate::revision::{Revised, Revision};
use crate::text::Name;
use inlay::derivation::Derivation;

/// A master key. Only its name can change.
#[derive(Clone, Debug)]
pub struct SealedMasterKey {
    /// Identifier, used in the API.
    pub id: MasterKeyId,
    /// Its name, its key and its derivation scheme.
    pub fields: MasterKeyFields,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The writable members of a master key.
#[derive(Clone, Debug)]
pub struct MasterKeyFields {
    /// The owner's name for it; need not be unique.
    pub name: Name,
    /// Key, wrapped and with its fingerprint.
    pub key: SealedKey,
    /// The scheme by which the keys of an inlay are derived.
    pub derivation: Derivation,
}

/// The revision covers only the name, because nothing else can change.
impl Revised for SealedMasterKey {
    fn revision(&self) -> Revision {
        Revision::of(&self.fields.name)
    }
}

impl SealedMasterKey {
    /// The master key in the form in which an inlay refers to it. `meta` is the inlay's meta read
    /// key, wrapped, if it is not the master key's.
    pub fn wrapped_keys(&self, meta: Option<Vec<u8>>) -> WrappedKeys {
        WrappedKeys::Master {
            meta,
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
