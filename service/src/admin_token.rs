//! Admin tokens: who may use the admin API. They are stored as hashes.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::id::TokenId;

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

    /// Its stored form.
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

/// An admin token, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoredToken {
    /// Its identifier.
    pub id: TokenId,
    /// Its purpose, in its owner's words.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}
