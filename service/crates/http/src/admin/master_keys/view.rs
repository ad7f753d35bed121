//! A master key in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use domain::clock::Timestamp;
use domain::id::MasterKeyId;
use domain::inventory::SealedMasterKey;
use domain::text::Name;
use inlay::derivation::Derivation;
use inlay::key::KeyCheck;

/// A key from which the keys of many inlays are derived.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MasterKey)]
pub(crate) struct MasterKeyView {
    /// Identifier of the master key.
    pub(super) id: MasterKeyId,
    /// Name of the master key.
    name: String,
    /// The first 3 bytes of the AES-CMAC of 16 zero bytes with this key, to compare keys by eye.
    key_check: KeyCheck,
    /// How an inlay's keys are derived from the master key.
    derivation: Derivation,
    /// Whether it is the all-zero factory key. Codes of its inlays prove nothing.
    factory_key: bool,
    /// When the master key was created.
    created_at: Timestamp,
}

impl From<SealedMasterKey> for MasterKeyView {
    fn from(key: SealedMasterKey) -> Self {
        Self {
            id: key.id,
            key_check: key.fields.key.fingerprint.check(),
            factory_key: key.factory(),
            name: key.fields.name.into(),
            derivation: key.fields.derivation,
            created_at: key.created_at,
        }
    }
}

/// Checks the name of a master key.
pub(super) fn name(name: String) -> Result<Name, ApiError> {
    Name::new("A master key", name).map_err(ApiError::invalid)
}
