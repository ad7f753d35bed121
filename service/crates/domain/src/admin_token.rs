//! Admin tokens, which grant access to the admin API. They are stored as hashes.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::id::{ExperienceId, GroupId, TokenId};
use crate::scope::{Rights, Scope};
use crate::text::Name;

/// Shortest token, in characters.
pub const TOKEN_MIN: usize = 32;
/// Random characters of a generated token: 256 bits.
const GENERATED: usize = 43;
/// The beginning of generated tokens, by which scanners find leaked ones.
const PREFIX: &str = "tapdesk_";
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
        Self(format!(
            "{PREFIX}{}",
            entropy::text(entropy, ALPHABET, GENERATED)
        ))
    }

    /// The token, to be shown once or written to its file.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Form that is stored.
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

/// An admin token to be stored.
#[derive(Clone, Debug)]
pub struct NewStoredToken {
    /// Its purpose, in its owner's words.
    pub name: Name,
    /// Hash of the token; the token itself is not stored.
    pub hash: TokenHash,
    /// Its scopes and the experiences that limit them.
    pub rights: Rights,
    /// When it expires; `None` if only deletion ends it.
    pub expires_at: Option<Timestamp>,
}

/// An admin token, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoredToken {
    /// Identifier, used in the API.
    pub id: TokenId,
    /// Its purpose, in its owner's words.
    pub name: String,
    /// The scopes of the token; `admin` includes all.
    pub scopes: BTreeSet<Scope>,
    /// The only experiences for which its scopes hold; `null` if it is not limited to some.
    pub experience_ids: Option<BTreeSet<ExperienceId>>,
    /// The only groups, with all below them, for whose tags its scopes hold; `null` if it is not
    /// limited to some.
    pub group_ids: Option<BTreeSet<GroupId>>,
    /// When it expires; `null` if only deletion ends it.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute; `null` if never.
    pub last_used_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl StoredToken {
    /// Its scopes and the experiences that limit them.
    pub fn rights(&self) -> Rights {
        Rights {
            scopes: self.scopes.clone(),
            experience_ids: self.experience_ids.clone(),
            group_ids: self.group_ids.clone(),
        }
    }

    /// Whether it has expired at `now`.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}
