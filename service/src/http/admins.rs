//! Which admin tokens are accepted, for what, and for how long.

use axum::http::HeaderMap;
use subtle::ConstantTimeEq as _;

use crate::admin_token::{AdminToken, StoredToken, TokenHash};
use crate::caller::Actor;
use crate::clock::Timestamp;
use crate::scope::Rights;
use crate::storage::{Storage, StorageError};

/// By this header a program with the installation's own token says which one it is. Who has
/// that token may do everything, and has no reason to lie.
const PROGRAM: &str = "tapdesk-program";

/// A stored token's use is noted once in so long: a write for each request would cost taps time.
const NOTED_MILLIS: i64 = 60_000;

/// What a request may do because of its token, for as long as that is one.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// `None` for the installation's own token, which lives as long as the process.
    stored: Option<(TokenHash, StoredToken)>,
    /// Which program presented the installation's own token.
    program: Actor,
    /// The epoch of configuration at which it was one.
    as_of: Option<u64>,
}

impl Grant {
    /// The stored token; `None` for the installation's own.
    pub(super) fn stored(&self) -> Option<&StoredToken> {
        self.stored.as_ref().map(|(_, token)| token)
    }

    /// Whether its token can end before the process does.
    pub(super) fn can_end(&self) -> bool {
        self.stored.is_some()
    }

    /// Whether its token has expired by `now`.
    pub(super) fn has_expired(&self, now: Timestamp) -> bool {
        self.stored().is_some_and(|token| token.has_expired(now))
    }

    /// The epoch of configuration at which its token was one.
    pub(super) fn as_of(&self) -> Option<u64> {
        self.as_of
    }

    /// What it allows.
    pub(super) fn rights(&self) -> Rights {
        self.stored().map_or_else(Rights::all, StoredToken::rights)
    }

    /// Who has it.
    pub(super) fn actor(&self) -> Actor {
        match self.stored() {
            Some(token) => Actor::Token(token.id, token.name.clone()),
            None => self.program.clone(),
        }
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

    /// The grant of the token with this hash, if it is the installation's or a stored one
    /// that has not expired by `now`.
    pub(super) async fn accept(
        &self,
        presented: TokenHash,
        headers: &HeaderMap,
        now: Timestamp,
        storage: &dyn Storage,
    ) -> Result<Option<Grant>, StorageError> {
        // Before the look: a token that ends after it ends at a later epoch.
        let as_of = storage.configuration_epoch();
        let grant = |stored| Grant {
            stored,
            program: program(headers),
            as_of,
        };
        let is_own = |own: TokenHash| bool::from(own.0.ct_eq(&presented.0));
        if self.0.is_some_and(is_own) {
            return Ok(Some(grant(None)));
        }
        // Looked up by its hash: what the index's timing could tell is a hash of
        // the attacker's own making.
        let known = storage.token(presented).await?;
        let Some(token) = known.filter(|token| !token.has_expired(now)) else {
            return Ok(None);
        };
        let noted = token.last_used_at;
        if noted.is_none_or(|noted| now.millis_since(noted) >= NOTED_MILLIS)
            && let Err(error) = storage.note_token_use(token.id, now).await
        {
            // A full disk stops no reader.
            tracing::debug!("the use of a token could not be noted: {error}");
        }
        Ok(Some(grant(Some((presented, token)))))
    }

    /// Whether the token of `grant` is still one.
    pub(super) async fn still(
        &self,
        grant: &Grant,
        storage: &dyn Storage,
    ) -> Result<bool, StorageError> {
        match grant.stored {
            Some((hash, _)) => Ok(storage.token(hash).await?.is_some()),
            None => Ok(true),
        }
    }
}

fn program(headers: &HeaderMap) -> Actor {
    match headers.get(PROGRAM).map(axum::http::HeaderValue::as_bytes) {
        Some(b"desktop") => Actor::Desktop,
        Some(b"encoder") => Actor::Encoder,
        Some(b"command-line") => Actor::CommandLine,
        _ => Actor::Installation,
    }
}
