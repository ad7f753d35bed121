//! Admin tokens: who may use the admin API. Stored as hashes; compared in
//! constant time.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::id::TokenId;
use crate::storage::{Storage, StorageError};

/// Shortest token, in characters.
pub const TOKEN_MIN: usize = 32;
const GENERATED: usize = 43;
const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A token in clear.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct AdminToken(String);

/// The token is too short to be safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("An admin token has at least {TOKEN_MIN} characters.")]
pub struct TooShort;

impl AdminToken {
    /// A token chosen by an operator.
    pub fn parse(text: &str) -> Result<Self, TooShort> {
        let text = text.trim();
        if text.chars().count() < TOKEN_MIN {
            Err(TooShort)
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// A new token of 256 bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(entropy::text(entropy, ALPHABET, GENERATED))
    }

    /// The token, to be shown once or written to its file.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(redacted)")
    }
}

/// The SHA-256 of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// The hash of `token`.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }
}

/// An admin token as far as it is kept and shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoredToken {
    /// Its identifier.
    pub id: TokenId,
    /// What it is for, in its owner's words.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// What a request may do because of its token, for as long as that is one.
#[derive(Clone, Debug)]
pub struct Grant {
    /// `None` for the installation's own token, which lives as long as the process.
    stored: Option<TokenHash>,
    /// The epoch of configuration at which it was one.
    as_of: Option<u64>,
}

impl Grant {
    /// Whether its token can end before the process does.
    pub fn can_end(&self) -> bool {
        self.stored.is_some()
    }

    /// The epoch of configuration at which its token was one.
    pub fn as_of(&self) -> Option<u64> {
        self.as_of
    }
}

/// Decides whether a presented token is one of ours.
pub struct Admins(Option<TokenHash>);

impl Admins {
    /// Accepts `token` beside the stored ones.
    pub fn new(token: Option<AdminToken>) -> Self {
        Self(token.map(|token| token.hash()))
    }

    /// The grant of the token with this hash, if it is the installation's or a stored one.
    pub async fn accept(
        &self,
        presented: TokenHash,
        storage: &dyn Storage,
    ) -> Result<Option<Grant>, StorageError> {
        // Before the look: a token that ends after it ends at a later epoch.
        let as_of = storage.configuration_epoch();
        let grant = |stored| Grant { stored, as_of };
        let is_own = |own: TokenHash| bool::from(own.0.ct_eq(&presented.0));
        if self.0.is_some_and(is_own) {
            return Ok(Some(grant(None)));
        }
        // Looked up by its hash: what the index's timing could tell is a hash of
        // the attacker's own making.
        let known = storage.has_token(presented).await?;
        Ok(known.then(|| grant(Some(presented))))
    }

    /// Whether the token of `grant` is still one.
    pub async fn still(&self, grant: &Grant, storage: &dyn Storage) -> Result<bool, StorageError> {
        match grant.stored {
            Some(hash) => storage.has_token(hash).await,
            None => Ok(true),
        }
    }
}
