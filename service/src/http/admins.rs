//! Which admin tokens are accepted, and for how long.

use subtle::ConstantTimeEq as _;

use crate::admin_token::{AdminToken, TokenHash};
use crate::storage::{Storage, StorageError};

/// What a request may do because of its token, for as long as that is one.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// `None` for the installation's own token, which lives as long as the process.
    stored: Option<TokenHash>,
    /// The epoch of configuration at which it was one.
    as_of: Option<u64>,
}

impl Grant {
    /// Whether its token can end before the process does.
    pub(super) fn can_end(&self) -> bool {
        self.stored.is_some()
    }

    /// The epoch of configuration at which its token was one.
    pub(super) fn as_of(&self) -> Option<u64> {
        self.as_of
    }
}

/// Decides whether a presented token is one of ours: the installation's own, or a
/// stored one. Compares in constant time.
pub(super) struct Admins(Option<TokenHash>);

impl Admins {
    /// Accepts `token` beside the stored ones.
    pub(super) fn new(token: Option<AdminToken>) -> Self {
        Self(token.map(|token| token.hash()))
    }

    /// The grant of the token with this hash, if it is the installation's or a stored one.
    pub(super) async fn accept(
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
    pub(super) async fn still(
        &self,
        grant: &Grant,
        storage: &dyn Storage,
    ) -> Result<bool, StorageError> {
        match grant.stored {
            Some(hash) => storage.has_token(hash).await,
            None => Ok(true),
        }
    }
}
