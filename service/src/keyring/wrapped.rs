//! Inlay keys as they are stored.

use crate::id::MasterKeyId;
use crate::inlay::diversify::DiversificationInput;

/// Where an inlay's keys come from. Key bytes are wrapped by `keyring`.
#[derive(Clone, Debug)]
pub enum WrappedKeys {
    /// The inlay's own keys.
    Own {
        /// The meta read key; a plain mirror needs none.
        meta: Option<Vec<u8>>,
        /// The file read key.
        file: Vec<u8>,
    },
    /// Diversified from a master key (AN10922).
    Master {
        /// Which.
        id: MasterKeyId,
        /// The master key.
        key: Vec<u8>,
        /// What it is diversified with.
        input: DiversificationInput,
        /// Whether the meta key is diversified, too.
        diversify_meta: bool,
    },
}
