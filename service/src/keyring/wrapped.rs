//! Inlay keys as they are stored.

use crate::id::MasterKeyId;
use crate::inlay::derivation::Derivation;

/// Where an inlay's keys come from. Key bytes are wrapped by `keyring`.
#[derive(Clone, Debug)]
pub enum WrappedKeys {
    /// The inlay's own keys, or derived ones that are kept because deriving them takes long.
    Own {
        /// The meta read key; codes in clear need none.
        meta: Option<Vec<u8>>,
        /// The file read key.
        file: Vec<u8>,
    },
    /// Derived from a master key.
    Master {
        /// Which.
        id: MasterKeyId,
        /// The master key.
        key: Vec<u8>,
        /// How.
        derivation: Derivation,
    },
}
