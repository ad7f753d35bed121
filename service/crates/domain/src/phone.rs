//! Staff phones: phones of people who work with tags. A paired phone has a secret in a cookie, and
//! its taps get the staff page instead of the visitor's. Secrets are stored as hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::admin_token::TokenHash;
use crate::clock::{Millis, Timestamp};
use crate::entropy::{self, Entropy};
use crate::id::{GroupId, PhoneId};
use crate::scope::{Rights, Scope};
use crate::text::Name;

/// How long a code in a pair URL can be used. A person holds the phone while the code is shown.
pub const PAIRING: Millis = Millis::minutes(10);
/// Random characters of a secret: 256 bits.
const LENGTH: usize = 43;
const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A secret of a phone in clear: the value of its cookie, or the code in a pair URL.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PhoneSecret(String);

impl PhoneSecret {
    /// A new secret of 256 bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(entropy::text(entropy, ALPHABET, LENGTH))
    }

    /// The secret that stands for this number of 256 bits.
    pub fn of_bytes(bytes: [u8; 32]) -> Self {
        let base = u16::try_from(ALPHABET.len()).unwrap_or(u16::MAX);
        let mut number = bytes;
        let mut text = String::with_capacity(LENGTH);
        // Digits of base 62 by long division, the lowest first. 62^43 is more than 2^256.
        for _ in 0..LENGTH {
            let mut rest = 0;
            for byte in &mut number {
                let value = rest * 256 + u16::from(*byte);
                // A quotient fits in a byte, because the rest is smaller than the base.
                *byte = u8::try_from(value / base).unwrap_or(u8::MAX);
                rest = value % base;
            }
            text.push(char::from(ALPHABET[usize::from(rest)]));
        }
        Self(text)
    }

    /// The secret with this text; `None` if no secret has its form.
    pub fn parse(text: &str) -> Option<Self> {
        let has_form = text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte));
        has_form.then(|| Self(text.to_owned()))
    }

    /// The secret, for a cookie or a pair URL.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Form that is stored.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for PhoneSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PhoneSecret(redacted)")
    }
}

/// A phone to be stored.
#[derive(Clone, Debug)]
pub struct NewPhone {
    /// Its name, in its owner's words.
    pub name: Name,
    /// Its scopes, and the groups that limit them.
    pub rights: Rights,
    /// When it expires; `None` if only deletion ends it.
    pub expires_at: Option<Timestamp>,
    /// Hash of the code in its pair URL.
    pub pair_code: TokenHash,
}

/// A staff phone, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = StoredPhone)]
pub struct Phone {
    /// Identifier, used in the API.
    pub id: PhoneId,
    /// Its name, in its owner's words.
    pub name: String,
    /// The scopes of the phone.
    pub scopes: BTreeSet<Scope>,
    /// The only groups, with all below them, whose tags the phone shows; `null` if it is not limited
    /// to some.
    pub group_ids: Option<BTreeSet<GroupId>>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was paired; `null` if it is not paired yet.
    pub paired_at: Option<Timestamp>,
    /// When it was last used, to the minute; `null` if never.
    pub last_used_at: Option<Timestamp>,
    /// When it expires; `null` if only deletion ends it.
    pub expires_at: Option<Timestamp>,
}

/// The state of a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhoneState {
    /// Its pair URL was not used yet.
    Unpaired,
    /// Its taps get the staff page.
    Active,
    /// It has expired: its taps get the visitor's page.
    Expired,
}

impl Phone {
    /// Its scopes, and the groups that limit them.
    pub fn rights(&self) -> Rights {
        Rights {
            scopes: self.scopes.clone(),
            experience_ids: None,
            group_ids: self.group_ids.clone(),
        }
    }

    /// Its state at `now`.
    pub fn state(&self, now: Timestamp) -> PhoneState {
        if self.expires_at.is_some_and(|end| now >= end) {
            PhoneState::Expired
        } else if self.paired_at.is_none() {
            PhoneState::Unpaired
        } else {
            PhoneState::Active
        }
    }
}

/// The hashes of a phone's secrets, in hexadecimal, by the host whose cookie has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhoneCookies(BTreeMap<String, String>);

impl PhoneCookies {
    /// Sets the secret of a host, in place of the former one.
    pub fn set(&mut self, host: &str, secret: TokenHash) {
        let hash = base16ct::lower::encode_string(&secret.0);
        self.0.insert(host.to_owned(), hash);
    }

    /// Whether the phone is paired at this host.
    pub fn has(&self, host: &str) -> bool {
        self.0.contains_key(host)
    }

    /// The hosts at which the phone is paired, in the order of their names.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The hashes of the secrets of all hosts.
    pub fn hashes(&self) -> impl Iterator<Item = TokenHash> {
        self.0.values().filter_map(|hash| {
            let mut bytes = [0; 32];
            let decoded = base16ct::lower::decode(hash, &mut bytes).ok()?;
            (decoded.len() == bytes.len()).then_some(TokenHash(bytes))
        })
    }
}

/// A phone with the hashes of its secrets. It has none before it is paired.
#[derive(Clone, Debug)]
pub struct PairedPhone {
    /// The phone, as the API shows it.
    pub phone: Phone,
    /// Its secrets at each host.
    pub cookies: PhoneCookies,
}

/// A use of a pair URL.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The phone to which the code belongs.
    pub id: PhoneId,
    /// Hash of the code, which the use consumes.
    pub code: TokenHash,
    /// The host whose cookie gets the secret.
    pub host: String,
    /// Hash of the new secret.
    pub secret: TokenHash,
    /// Hash of the code for another host; `None` if no host is left.
    pub next: Option<TokenHash>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SeededEntropy;

    #[test]
    fn a_secret_is_read_as_it_was_written_and_nothing_else_is_one() {
        let secret = PhoneSecret::generate(&SeededEntropy::new(1));
        let read = PhoneSecret::parse(secret.expose()).unwrap();
        assert_eq!(read.hash(), secret.hash());
        let longer = format!("{}0", secret.expose());
        let other = format!("-{}", &secret.expose()[1..]);
        for text in ["", &secret.expose()[1..], &longer, &other] {
            assert!(PhoneSecret::parse(text).is_none(), "{text}");
        }
        assert_eq!(format!("{secret:?}"), "PhoneSecret(redacted)");
    }

    #[test]
    fn each_number_has_a_secret_of_its_own() {
        let texts: Vec<_> = [[0; 32], [0xFF; 32], [7; 32], {
            let mut lowest = [0; 32];
            lowest[31] = 1;
            lowest
        }]
        .map(PhoneSecret::of_bytes)
        .iter()
        .map(|secret| secret.expose().to_owned())
        .collect();
        for text in &texts {
            assert!(PhoneSecret::parse(text).is_some(), "{text}");
        }
        let distinct: BTreeSet<_> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
        assert_eq!(texts[0], "0".repeat(43));
        assert_eq!(texts[3], format!("1{}", "0".repeat(42)));
    }

    #[test]
    fn a_host_has_one_secret() {
        let hash = |byte| TokenHash([byte; 32]);
        let mut cookies = PhoneCookies::default();
        cookies.set("tags.example", hash(1));
        cookies.set("m.example", hash(2));
        cookies.set("tags.example", hash(3));
        assert!(cookies.has("m.example") && !cookies.has("other.example"));
        let hosts: Vec<_> = cookies.hosts().collect();
        assert_eq!(hosts, ["m.example", "tags.example"]);
        let hashes: Vec<_> = cookies.hashes().collect();
        assert_eq!(hashes, [hash(2), hash(3)]);
    }

    #[test]
    fn a_phone_that_expires_is_not_active_any_more() {
        let at = Timestamp::from_millis;
        let mut phone = Phone {
            id: PhoneId::new(1),
            name: "Bench".to_owned(),
            scopes: [Scope::Read].into(),
            group_ids: None,
            created_at: at(0),
            paired_at: None,
            last_used_at: None,
            expires_at: Some(at(10)),
        };
        assert_eq!(phone.state(at(9)), PhoneState::Unpaired);
        phone.paired_at = Some(at(1));
        assert_eq!(phone.state(at(9)), PhoneState::Active);
        assert_eq!(phone.state(at(10)), PhoneState::Expired);
    }
}
