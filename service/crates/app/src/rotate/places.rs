//! The places of a rotation's keys, and which of these keys it uses.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Keys, RotateError, is_new_key};
use domain::clock::Timestamp;
use domain::entropy::{self, Entropy};
use domain::keyring::Keyring;
use storage::KeyRotation;

/// A key that wraps secrets.
pub type WrappingKey = Zeroizing<[u8; 32]>;

/// The place of the present key, and of the new one until it replaces it. An `Err` is a sentence
/// for people, with a way out.
pub trait KeyPlaces: Send + Sync {
    /// Reads the present key, if there is one.
    fn present(&self) -> Result<Option<WrappingKey>, String>;

    /// Reads the new key, if it has not replaced the present one yet.
    fn next(&self) -> Result<Option<WrappingKey>, String>;

    /// Stores a new key. It is completely on disk when this returns.
    fn keep_next(&self, key: &WrappingKey) -> Result<(), String>;

    /// Replaces the present key by the new one. The present key is stored under another name, which
    /// is returned. Does nothing if there is no new key.
    fn replace(&self, now: Timestamp) -> Result<Option<String>, String>;

    /// The names of the places, for messages.
    fn names(&self) -> Names;
}

/// Names of the places, for messages.
#[derive(Clone, Debug)]
pub struct Names {
    /// The place of the present key, as in "no key in ...".
    pub present: String,
    /// The place of the new key.
    pub next: String,
    /// The way out if the present key is missing, or belongs to another database: a sentence.
    pub find: &'static str,
}

/// The keys of an unfinished rotation, or of a new one. The new key is on disk when this returns.
/// `wrapped` is any secret of the database.
pub fn keys(
    places: &dyn KeyPlaces,
    rotation: Option<&KeyRotation>,
    wrapped: Option<&[u8]>,
    entropy: &dyn Entropy,
) -> Result<Keys, RotateError> {
    let open = |key: &WrappingKey| Arc::new(Keyring::open(key));
    let present = places.present().map_err(RotateError::Place)?;
    let present = present.as_ref().map(open);
    let next = places.next().map_err(RotateError::Place)?;
    let next = next.as_ref().map(open);
    if let Some(rotation) = rotation {
        let is_new = |key: &Arc<Keyring>| is_new_key(key, rotation);
        return match (present, next) {
            (former, Some(new)) if is_new(&new) => Ok(Keys { former, new }),
            // The new key has already replaced the present one.
            (Some(new), _) if is_new(&new) => Ok(Keys { former: None, new }),
            _ => Err(RotateError::NewKeyMissing(places.names())),
        };
    }
    let former = present.ok_or_else(|| RotateError::NoKey(places.names()))?;
    if wrapped.is_some_and(|wrapped| former.unwrap_secret(wrapped).is_err()) {
        return Err(RotateError::OtherKey(places.names()));
    }
    let new = if let Some(next) = next {
        // A rotation that stopped before it changed anything left this key.
        next
    } else {
        let key = Zeroizing::new(entropy::bytes::<32>(entropy));
        places.keep_next(&key).map_err(RotateError::Place)?;
        // Reads the key back, so that secrets are wrapped by the key that is really stored.
        let kept = places.next().map_err(RotateError::Place)?;
        let kept = kept.ok_or_else(|| RotateError::NewKeyMissing(places.names()))?;
        open(&kept)
    };
    Ok(Keys {
        former: Some(former),
        new,
    })
}
