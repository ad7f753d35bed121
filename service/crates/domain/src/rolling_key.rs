//! The rolling key: a one-time key that proves a client interacted with a tagged object
//! (specification 2.1 and 3).
//!
//! It has 33 random characters (196 bits) and 11 that contain the interaction's id under a mask
//! made from the random ones, so that finding a key needs no index. Only a hash of the random ones
//! is stored, in the row of the interaction; the key itself exists only in the answer to its tap.
//! The commit assigns the id, so the key is complete only after it.

use std::fmt;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::clock::{Millis, Timestamp};
use crate::entropy::{self, Entropy};
use crate::id::InteractionId;

/// How long a key is valid after its interaction (specification 8).
pub const LIFETIME: Millis = Millis::seconds(300);

const RANDOM: usize = 33;
const MASKED_ID: usize = 11;
const LENGTH: usize = RANDOM + MASKED_ID;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A rolling key as received in the redirect: 44 characters of `A-Z a-z 0-9`.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct RollingKey(String);

impl RollingKey {
    /// A key in its raw form. `None` if the text cannot be one.
    pub fn parse(raw: &str) -> Option<Self> {
        let well_formed = raw.len() == LENGTH && raw.bytes().all(|b| b.is_ascii_alphanumeric());
        well_formed.then(|| Self(raw.to_owned()))
    }

    /// A key as clients send it: Base64 in the standard or the URL-safe alphabet, with or without
    /// padding. A `+` that became a space is accepted.
    pub fn from_base64(text: &str) -> Option<Self> {
        const LENIENT: GeneralPurpose = GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
        );
        if text.len() > 2 * LENGTH {
            return None;
        }
        let standard = Zeroizing::new(text.replace([' ', '-'], "+").replace('_', "/"));
        let raw = Zeroizing::new(LENIENT.decode(standard.as_bytes()).ok()?);
        Self::parse(std::str::from_utf8(&raw).ok()?)
    }

    /// The form clients send.
    pub fn to_base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(&self.0)
    }

    /// The key in clear. Use it only for the answer to its own tap and for the payload's `rk`.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its stored form. The hash does not cover the characters of the id: a key with a changed id
    /// belongs to another interaction, which has another hash.
    pub fn hash(&self) -> KeyHash {
        hash(&self.0.as_bytes()[..RANDOM])
    }
}

fn hash(random: &[u8]) -> KeyHash {
    let digest: [u8; 32] = Sha256::digest(random).into();
    KeyHash(std::array::from_fn(|i| digest[i]))
}

/// The random part of a key, drawn before its interaction has an id.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct KeySeed([u8; RANDOM]);

impl KeySeed {
    /// Draws a new seed.
    pub fn draw(entropy: &dyn Entropy) -> Self {
        Self(entropy::array(entropy, ALPHABET))
    }

    /// The stored form of the resulting key.
    pub fn hash(&self) -> KeyHash {
        hash(&self.0)
    }
}

impl fmt::Debug for KeySeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySeed(redacted)")
    }
}

impl fmt::Debug for RollingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RollingKey(redacted)")
    }
}

/// The first half of the SHA-256 of a key's random characters, compared in constant time. It is
/// stored as long as the interaction, so it is short. Guessing a key for it takes 2^128 attempts.
#[derive(Clone, Copy, Debug)]
pub struct KeyHash(pub [u8; 16]);

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

/// The secret that all nodes share and that hides the interaction's id in a key. It proves nothing:
/// only the hash identifies a key.
///
/// It is kept as the state of the HMAC after the key: each tap has a key, and making this state
/// takes half of its HMAC. The state wipes itself when it is dropped.
#[derive(Clone)]
pub struct KeyMask(Hmac<Sha256>);

impl fmt::Debug for KeyMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyMask(redacted)")
    }
}

impl KeyMask {
    /// The mask over a stored secret.
    pub fn new(secret: [u8; 32]) -> Self {
        let secret = Zeroizing::new(secret);
        Self(Hmac::new_from_slice(&secret[..]).expect("HMAC takes any key length"))
    }

    /// The key of the interaction `id`.
    pub fn key(&self, seed: &KeySeed, id: InteractionId) -> RollingKey {
        let mut key = String::with_capacity(LENGTH);
        key.extend(seed.0.iter().copied().map(char::from));
        let mut masked = id.get().cast_unsigned() ^ self.mask(&seed.0);
        for _ in 0..MASKED_ID {
            key.push(char::from(ALPHABET[(masked % 62) as usize]));
            masked /= 62;
        }
        RollingKey(key)
    }

    /// The interaction that a key names. `None` if no issued key can have this form.
    pub fn interaction_id(&self, key: &RollingKey) -> Option<InteractionId> {
        let (random, masked) = key.0.as_bytes().split_at(RANDOM);
        let digit = |byte: &u8| ALPHABET.binary_search(byte).ok().map(|d| d as u64);
        let masked = masked.iter().rev().try_fold(0_u64, |number, byte| {
            number.checked_mul(62)?.checked_add(digit(byte)?)
        })?;
        let id = (masked ^ self.mask(random)).cast_signed();
        InteractionId::try_from(id).ok()
    }

    fn mask(&self, random: &[u8]) -> u64 {
        let mut mac = self.0.clone();
        mac.update(random);
        let tag = mac.finalize().into_bytes();
        u64::from_be_bytes(std::array::from_fn(|i| tag[i]))
    }
}

/// The stored part of an issued key, with the transitions of specification 3.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    /// Hash by which the key is recognised.
    pub hash: KeyHash,
    /// The time of its interaction.
    pub issued_at: Timestamp,
    /// The update that consumed it, if one did.
    pub consumed: Option<Consumed>,
}

/// A successful update, the only thing that consumes a key.
#[derive(Clone, Debug)]
pub struct Consumed {
    /// Time of the update.
    pub at: Timestamp,
    /// Digest of the `Idempotency-Key` and body, if the request had such a key.
    pub request: Option<[u8; 32]>,
}

/// The state of an interaction's key (specification 3), for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum KeyState {
    /// No key was issued.
    None,
    /// The key can read the payload and update variables.
    Valid {
        /// The remaining time in milliseconds.
        remaining_ms: i64,
    },
    /// The five minutes of the key are over.
    Expired,
    /// The key updated variables.
    Consumed {
        /// Time of that update.
        consumed_at: Timestamp,
    },
}

/// The permitted use of a presented key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presented {
    /// The key is wrong, or its five minutes are over.
    Invalid,
    /// It may update variables, once.
    Usable,
    /// It was consumed by another request.
    Consumed,
    /// The same request already consumed it: the stored answer is sent again.
    Repeated,
}

/// Whether a key from `issued_at` is valid: `0 <= now - issued_at < 300 s`.
pub fn is_live(issued_at: Timestamp, now: Timestamp) -> bool {
    (Millis::ZERO..LIFETIME).contains(&now.since(issued_at))
}

impl IssuedKey {
    /// Its state at `now`.
    pub fn state(&self, now: Timestamp) -> KeyState {
        match &self.consumed {
            Some(Consumed { at, .. }) => KeyState::Consumed { consumed_at: *at },
            None if is_live(self.issued_at, now) => KeyState::Valid {
                remaining_ms: (LIFETIME - now.since(self.issued_at)).get(),
            },
            None => KeyState::Expired,
        }
    }

    /// The permitted use at `now` for a request with a key of the hash `presented`; `request` is
    /// the request's own idempotency digest.
    pub fn present(
        &self,
        presented: KeyHash,
        now: Timestamp,
        request: Option<[u8; 32]>,
    ) -> Presented {
        if self.hash != presented || !is_live(self.issued_at, now) {
            return Presented::Invalid;
        }
        match &self.consumed {
            None => Presented::Usable,
            Some(consumed) if request.is_some() && consumed.request == request => {
                Presented::Repeated
            }
            Some(_) => Presented::Consumed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::OsEntropy;
    use proptest::prelude::*;

    fn key(id: i64) -> (KeyMask, RollingKey) {
        let mask = KeyMask::new([7; 32]);
        let key = mask.key(&KeySeed::draw(&OsEntropy), InteractionId::new(id));
        (mask, key)
    }

    #[test]
    fn the_stored_hash_is_known_before_the_interaction_is() {
        let mask = KeyMask::new([7; 32]);
        let seed = KeySeed::draw(&OsEntropy);
        let hash = seed.hash();
        let led = mask.key(&seed, InteractionId::new(90_412));
        assert_eq!(led.hash(), hash);
        assert_ne!(key(90_412).1.hash(), hash, "it is its own");
    }

    #[test]
    fn a_mask_is_the_same_in_every_version_and_stays_so_after_it_made_a_key() {
        // Computed by another implementation of HMAC.
        const KEY: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaXDQ9n2ILgP6";
        let mask = KeyMask::new([7; 32]);
        let (seed, id) = (KeySeed([b'a'; RANDOM]), InteractionId::new(90_412));
        for mask in [&mask, &mask.clone(), &mask] {
            assert_eq!(mask.key(&seed, id).expose(), KEY);
            let key = RollingKey::parse(KEY).unwrap();
            assert_eq!(mask.interaction_id(&key), Some(id));
        }
    }

    proptest! {
        #[test]
        fn a_key_leads_to_its_interaction(id in 1..i64::MAX) {
            let (mask, key) = key(id);
            prop_assert_eq!(mask.interaction_id(&key), Some(InteractionId::new(id)));
            prop_assert!(RollingKey::parse(key.expose()).is_some());
        }

        #[test]
        fn any_text_is_taken_without_a_panic(text in ".{0,120}") {
            let mask = KeyMask::new([7; 32]);
            if let Some(key) = RollingKey::from_base64(&text).or_else(|| RollingKey::parse(&text)) {
                mask.interaction_id(&key);
            }
        }
    }

    #[test]
    fn base64_comes_in_four_forms_and_none_needs_escaping() {
        let (_, key) = key(90_412);
        let padded = key.to_base64();
        assert!(!padded.contains(['+', '/']));
        for form in [padded.clone(), padded.trim_end_matches('=').to_owned()] {
            assert_eq!(RollingKey::from_base64(&form), Some(key.clone()));
        }
        assert_eq!(
            RollingKey::from_base64(key.expose()),
            None,
            "a raw key is not accepted"
        );
    }

    #[test]
    fn the_published_example_is_base64_of_its_raw_form() {
        let raw = base64::engine::general_purpose::STANDARD
            .encode("2y10XCZddmr0LYWazxYuW6OnAMS1SaCxrbywC4ucYwAWE8dV9nODrdSW");
        assert_eq!(
            raw,
            "MnkxMFhDWmRkbXIwTFlXYXp4WXVXNk9uQU1TMVNhQ3hyYnl3QzR1Y1l3QVdFOGRWOW5PRHJkU1c="
        );
    }

    #[test]
    fn a_key_lives_for_300_seconds_from_its_interaction_and_never_before_it() {
        let at = Timestamp::from_millis(1_000_000);
        for (age, live) in [(-1, false), (0, true), (299_999, true), (300_000, false)] {
            assert_eq!(is_live(at, at.plus(Millis::new(age))), live, "at {age} ms");
        }
    }

    #[test]
    fn only_the_request_that_consumed_a_key_gets_its_answer_again() {
        let (_, key) = key(1);
        let at = Timestamp::from_millis(0);
        let issued = |consumed| IssuedKey {
            hash: key.hash(),
            issued_at: at,
            consumed,
        };
        let by = |request| issued(Some(Consumed { at, request }));
        assert_eq!(
            issued(None).present(key.hash(), at, None),
            Presented::Usable
        );
        assert_eq!(by(None).present(key.hash(), at, None), Presented::Consumed);
        assert_eq!(
            by(Some([1; 32])).present(key.hash(), at, None),
            Presented::Consumed
        );
        assert_eq!(
            by(Some([1; 32])).present(key.hash(), at, Some([2; 32])),
            Presented::Consumed
        );
        assert_eq!(
            by(Some([1; 32])).present(key.hash(), at, Some([1; 32])),
            Presented::Repeated
        );
        let late = at.plus(LIFETIME);
        assert_eq!(
            by(Some([1; 32])).present(key.hash(), late, Some([1; 32])),
            Presented::Invalid
        );
    }
}
