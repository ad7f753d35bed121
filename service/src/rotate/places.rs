//! Where the keys of a rotation are kept, and which of them it uses.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Keys, RotateError, is_new_key};
use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::keyring::Keyring;
use crate::storage::KeyRotation;

/// A key that wraps secrets.
pub type WrappingKey = Zeroizing<[u8; 32]>;

/// Where the present key is kept, and beside it the new one until it takes its place. An `Err` is a
/// sentence for people, with a way out.
pub trait KeyPlaces: Send + Sync {
    /// The present key.
    fn present(&self) -> Result<Option<WrappingKey>, String>;

    /// The new key, before it has taken its place.
    fn next(&self) -> Result<Option<WrappingKey>, String>;

    /// Keeps a new key. It is safe there, whole, when this returns.
    fn keep_next(&self, key: &WrappingKey) -> Result<(), String>;

    /// Puts the new key in the place of the present one, which is kept under another name: which
    /// one. Does nothing if there is no new key.
    fn replace(&self, now: Timestamp) -> Result<Option<String>, String>;

    /// The places in words.
    fn names(&self) -> Names;
}

/// Places of keys in words.
#[derive(Clone, Debug)]
pub struct Names {
    /// That of the present key, as in "no key in ...".
    pub present: String,
    /// That of the new key.
    pub next: String,
    /// What to do if the present key is not there, or is another database's: a sentence.
    pub find: &'static str,
}

/// The keys of the rotation that is not done, or of a new one: then its new key is safe when this
/// returns. `wrapped` is any secret of the database.
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
            // It has taken its place.
            (Some(new), _) if is_new(&new) => Ok(Keys { former: None, new }),
            _ => Err(RotateError::NewKeyMissing(places.names())),
        };
    }
    let former = present.ok_or_else(|| RotateError::NoKey(places.names()))?;
    if wrapped.is_some_and(|wrapped| former.unwrap_secret(wrapped).is_err()) {
        return Err(RotateError::OtherKey(places.names()));
    }
    let new = if let Some(next) = next {
        // One that was ended before it changed anything has left it.
        next
    } else {
        let key = Zeroizing::new(entropy::bytes::<32>(entropy));
        places.keep_next(&key).map_err(RotateError::Place)?;
        // Secrets are wrapped by what is really there.
        let kept = places.next().map_err(RotateError::Place)?;
        let kept = kept.ok_or_else(|| RotateError::NewKeyMissing(places.names()))?;
        open(&kept)
    };
    Ok(Keys {
        former: Some(former),
        new,
    })
}
