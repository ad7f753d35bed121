//! Inlay keys in their stored form.

use crate::id::MasterKeyId;
use inlay::derivation::Derivation;

/// The source of an inlay's keys. Key bytes are wrapped by `keyring`.
#[derive(Clone, Debug)]
pub enum WrappedKeys {
    /// The inlay's own keys, or derived ones that are stored because deriving them takes long.
    Own {
        /// The meta read key; `None` for codes in clear.
        meta: Option<Vec<u8>>,
        /// The file read key.
        file: Vec<u8>,
    },
    /// Keys derived from a master key.
    Master {
        /// The meta read key, if it is not the master key's.
        meta: Option<Vec<u8>>,
        /// Identifier of the master key.
        id: MasterKeyId,
        /// Master key, wrapped by the keyring.
        key: Vec<u8>,
        /// Scheme of the derivation.
        derivation: Derivation,
    },
}

impl WrappedKeys {
    /// How many keys must be opened for them.
    pub fn count(&self) -> usize {
        match self {
            Self::Own { meta, .. } | Self::Master { meta, .. } => 1 + usize::from(meta.is_some()),
        }
    }
}
