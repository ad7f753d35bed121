//! Checks admin tokens: which are valid, which rights they give, and for how long.

use axum::http::HeaderMap;
use subtle::ConstantTimeEq as _;

use domain::admin_token::{AdminToken, StoredToken, TokenHash};
use domain::caller::Actor;
use domain::clock::{Millis, Timestamp};
use domain::scope::Rights;
use storage::{Access, StorageError};

/// Header by which a program with the installation's own token names itself, for the audit log.
/// That token already allows everything, so a false name gains nothing.
const PROGRAM: &str = "tapdesk-program";

/// Minimum time between two records of a stored token's use. A write per request would slow down
/// taps.
const NOTED: Millis = Millis::minutes(1);

/// The rights that a request has because of its token, while the token is valid.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    /// `None` for the installation's own token, which is valid as long as the process runs.
    stored: Option<(TokenHash, StoredToken)>,
    /// The program that presented the installation's own token.
    program: Actor,
    /// The configuration epoch at which the token was found valid.
    as_of: Option<u64>,
}

impl Grant {
    /// The stored token; `None` for the installation's own.
    pub(crate) fn stored(&self) -> Option<&StoredToken> {
        self.stored.as_ref().map(|(_, token)| token)
    }

    /// Whether the token can become invalid before the process ends.
    pub(crate) fn can_end(&self) -> bool {
        self.stored.is_some()
    }

    /// Whether the token has expired by `now`.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.stored().is_some_and(|token| token.has_expired(now))
    }

    /// The configuration epoch at which the token was found valid.
    pub(crate) fn as_of(&self) -> Option<u64> {
        self.as_of
    }

    /// The rights that the token gives.
    pub(crate) fn rights(&self) -> Rights {
        self.stored().map_or_else(Rights::all, StoredToken::rights)
    }

    /// The holder of the token, as the audit log records it.
    pub(crate) fn actor(&self) -> Actor {
        match self.stored() {
            Some(token) => Actor::Token(token.id, token.name.clone()),
            None => self.program.clone(),
        }
    }
}

/// Decides whether a presented token is valid: the installation's own, or a stored one. It compares
/// in constant time.
pub(crate) struct Admins(Option<TokenHash>);

impl Admins {
    /// Accepts `token` in addition to the stored tokens.
    pub(crate) fn new(token: Option<AdminToken>) -> Self {
        Self(token.map(|token| token.hash()))
    }

    /// The grant of the token with this hash. `None` if the token is unknown or has expired by
    /// `now`.
    pub(crate) async fn accept(
        &self,
        presented: TokenHash,
        headers: &HeaderMap,
        now: Timestamp,
        storage: &Access,
    ) -> Result<Option<Grant>, StorageError> {
        // Read the epoch before the lookup: if the token is deleted after the lookup, the epoch
        // changes.
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
        // The lookup uses the hash, so the timing of the index can only reveal a hash that the
        // attacker chose.
        let known = storage.token(presented).await?;
        let Some(token) = known.filter(|token| !token.has_expired(now)) else {
            return Ok(None);
        };
        let noted = token.last_used_at;
        if noted.is_none_or(|noted| now.since(noted) >= NOTED)
            && let Err(error) = storage.note_token_use(token.id, now).await
        {
            // Reading must work while the disk is full.
            tracing::debug!("the use of a token could not be noted: {error}");
        }
        Ok(Some(grant(Some((presented, token)))))
    }

    /// Whether the token of `grant` still exists.
    pub(crate) async fn still(
        &self,
        grant: &Grant,
        storage: &Access,
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
