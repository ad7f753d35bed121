//! What the installation itself keeps: secrets, settings, tokens.

use async_trait::async_trait;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::StorageError;
use crate::admin_token::TokenHash;

/// The operations on what the installation itself keeps.
#[async_trait]
pub trait Administration: Send + Sync {
    /// The installation's secrets, made when the database was.
    async fn secrets(&self) -> Result<Secrets, StorageError>;

    /// Whether an admin token with this hash is stored.
    async fn has_token(&self, hash: TokenHash) -> Result<bool, StorageError>;
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
