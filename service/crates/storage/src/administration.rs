//! The installation's own data: secrets, settings, admin tokens.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Conflict, StorageError};
use domain::admin_token::{NewStoredToken, StoredToken, TokenHash};
use domain::clock::Timestamp;
use domain::id::TokenId;
use domain::keyring::SealedWrappingKey;
use domain::settings::Overrides;
use domain::tag_url::TagUrlCheck;

/// An edit of the stored settings, applied inside the operation that stores
/// them. An `Err` stores nothing.
pub type SettingsEdit = Box<dyn Fn(Overrides) -> Result<Overrides, Conflict> + Send + Sync>;

/// The operations on the installation's own data.
#[async_trait]
pub trait Administration: Send + Sync {
    /// The installation's secrets, which were generated with the database.
    async fn secrets(&self) -> Result<Secrets, StorageError>;

    /// The settings as stored in the database, without arguments and variables.
    async fn settings(&self) -> Result<Overrides, StorageError>;

    /// Applies `edit` to the stored settings, and returns the settings as stored afterwards.
    ///
    /// # Errors
    ///
    /// The error of `edit`.
    async fn edit_settings(&self, edit: SettingsEdit) -> Result<Overrides, StorageError>;

    /// The newest check result of each tag URL that was checked recently, the newest first.
    async fn tag_url_checks(&self) -> Result<Vec<TagUrlCheck>, StorageError>;

    /// Stores the result of a tag URL check, in place of the earlier result of that tag URL.
    async fn note_tag_url_check(&self, check: TagUrlCheck) -> Result<(), StorageError>;

    /// Any inlay's or master key in its stored form. If there is one, the wrapping key must not be
    /// generated again, and must be the key that opens it.
    async fn any_wrapped_key(&self) -> Result<Option<Vec<u8>>, StorageError>;

    /// At most `limit` stored admin tokens, the oldest first, after the token `after`.
    async fn tokens(
        &self,
        after: Option<TokenId>,
        limit: usize,
    ) -> Result<Vec<StoredToken>, StorageError>;

    /// Stores an admin token by its hash.
    ///
    /// # Errors
    ///
    /// [`Conflict::Missing`] if the token is limited to an experience that does not exist.
    async fn insert_token(&self, token: NewStoredToken) -> Result<StoredToken, StorageError>;

    /// Deletes an admin token. `None` if there is no such token.
    async fn delete_token(&self, id: TokenId) -> Result<Option<()>, StorageError>;

    /// The admin token with this hash, even if it has expired.
    async fn token(&self, hash: TokenHash) -> Result<Option<StoredToken>, StorageError>;

    /// Notes that an admin token was used at `now`.
    async fn note_token_use(&self, id: TokenId, now: Timestamp) -> Result<(), StorageError>;
}

/// Facts about a database that can be read without opening it for writing.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The version of its schema.
    pub format: u32,
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
