//! The installation's own data: secrets, settings, admin tokens.

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::Conflict;
use domain::clock::Timestamp;
use domain::keyring::SealedWrappingKey;
use domain::settings::Overrides;

/// An edit of the stored settings, applied inside the operation that stores
/// them. An `Err` stores nothing.
pub type SettingsEdit = Box<dyn Fn(Overrides) -> Result<Overrides, Conflict> + Send + Sync>;

/// Facts about a database that can be read without opening it for writing.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The version of its schema.
    pub format: u32,
    /// Whether this program has a newer version of the schema.
    pub is_older: bool,
    /// Any inlay's key in its stored form; the wrapping key must open it.
    pub wrapped_key: Option<Vec<u8>>,
    /// The time of its newest interaction that is not simulated.
    pub newest_at: Option<Timestamp>,
    /// Tables that its schema version requires and that it does not have.
    pub missing_tables: Vec<&'static str>,
}

/// The description that a backup contains of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupNote {
    /// When the backup was made.
    pub at: Timestamp,
    /// The key that wraps the inlay keys; `None` if the backup does not contain it.
    pub inlay_key: Option<SealedWrappingKey>,
}

/// Secrets that all nodes share. They are in no export.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secrets {
    /// The mask that hides the interaction's id in a rolling key.
    pub key_mask: [u8; 32],
    /// The key that turns an IP address and a user agent into a client's identity.
    pub client: [u8; 32],
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(redacted)")
    }
}
