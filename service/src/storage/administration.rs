//! What the installation itself keeps: secrets, settings, tokens.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Conflict, StorageError};
use crate::admin_token::{NewStoredToken, StoredToken, TokenHash};
use crate::clock::Timestamp;
use crate::id::TokenId;
use crate::keyring::SealedWrappingKey;
use crate::settings::Overrides;

/// An edit of the stored settings, applied inside the operation that stores
/// them. An `Err` stores nothing.
pub type SettingsEdit = Box<dyn Fn(Overrides) -> Result<Overrides, Conflict> + Send + Sync>;

/// The operations on what the installation itself keeps.
#[async_trait]
pub trait Administration: Send + Sync {
    /// The installation's secrets, made when the database was.
    async fn secrets(&self) -> Result<Secrets, StorageError>;

    /// The stored settings.
    async fn settings(&self) -> Result<Overrides, StorageError>;

    /// Applies `edit` to the stored settings, and answers what is stored then.
    ///
    /// # Errors
    ///
    /// What `edit` refuses.
    async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError>;

    /// Any inlay's or master key in its stored form. If there is one, the key
    /// that wraps them must not be made again, and must be the one that opens it.
    async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError>;

    /// At most `limit` stored admin tokens, the oldest first, beginning behind `after`.
    async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError>;

    /// Stores an admin token by its hash.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] for an experience it would be limited to.
    async fn insert_token(&self, token: NewStoredToken) -> Result<StoredToken, StorageError>;

    /// Removes an admin token. `None` if there is none.
    async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError>;

    /// The admin token with this hash, also if it has expired.
    async fn token(&self, hash: TokenHash) -> Result<Option<StoredToken>, StorageError>;

    /// Notes that an admin token was used at `now`.
    async fn note_token_use(&self, id: TokenId, now: Timestamp) -> Result<(), StorageError>;
}

/// What can be seen of a database without opening it for writing.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The version of its schema.
    pub format: u32,
    /// Any inlay's key in its stored form: what the wrapping key must open.
    pub wrapped_key: Option<Vec<u8>>,
    /// The time of its newest interaction that is not simulated.
    pub newest_at: Option<Timestamp>,
    /// Tables that it should have in this format and does not.
    pub missing_tables: Vec<&'static str>,
}

/// What a backup tells of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupNote {
    /// When it was made.
    pub at: Timestamp,
    /// The key that wraps the inlay keys; `None` if the backup does not contain it.
    pub inlay_key: Option<SealedWrappingKey>,
}

/// Secrets that all nodes share. They are in no export.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secrets {
    /// Hides the interaction's id in a rolling key.
    pub key_mask: [u8; 32],
    /// Makes a client's identity out of address and user agent.
    pub client: [u8; 32],
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(redacted)")
    }
}
