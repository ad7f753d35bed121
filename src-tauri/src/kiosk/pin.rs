//! The PIN, which is the one way out of the kiosk.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tapdesk_service::clock::Timestamp;
use tapdesk_service::entropy::{self, Entropy};

/// Argon2id with 19 MiB, 2 passes, 1 lane (OWASP Password Storage Cheat Sheet).
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// How many digits a PIN may have.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=12;
/// Wrong tries that cost no wait.
const FREE: u32 = 3;
/// The wait after the next wrong try, in milliseconds. It doubles with each.
const FIRST_WAIT: i64 = 5_000;
/// The longest wait, in milliseconds.
const LONGEST_WAIT: i64 = 300_000;

/// What is kept of a PIN: from it, the PIN is found only by trying.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinHash {
    salt: String,
    hash: String,
}

impl PinHash {
    /// Of a new PIN. An `Err` is a sentence for people.
    pub fn of(pin: &str, entropy: &impl Entropy) -> Result<Self, String> {
        if !DIGITS.contains(&pin.len()) || !pin.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err("A PIN has 4 to 12 digits.".to_owned());
        }
        let salt: [u8; 16] = entropy::bytes(entropy);
        Ok(Self {
            salt: STANDARD.encode(salt),
            hash: STANDARD.encode(hash(pin, &salt)),
        })
    }

    /// Whether this is the PIN.
    pub fn is(&self, pin: &str) -> bool {
        let salt = STANDARD.decode(&self.salt).unwrap_or_default();
        // The hashes may be compared in any time: they tell nothing of the PIN.
        salt.len() >= 8 && STANDARD.encode(hash(pin, &salt)) == self.hash
    }
}

impl std::fmt::Debug for PinHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PinHash")
    }
}

fn hash(pin: &str, salt: &[u8]) -> [u8; 32] {
    let (memory, passes, lanes) = COST;
    let params = Params::new(memory, passes, lanes, None).expect("the cost is within bounds");
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; 32];
    argon2
        .hash_password_into(pin.as_bytes(), salt, &mut hash)
        .expect("a salt of 8 bytes and a hash of 32 are within bounds");
    hash
}

/// Tries with a wrong PIN, which are slowed down.
#[derive(Default)]
pub struct Tries {
    wrong: u32,
    /// Until when nothing is tried, in milliseconds of the Unix epoch.
    until: i64,
}

impl Tries {
    /// How long the next try has to wait at `now`, in seconds; `None` where it may be made.
    pub fn wait(&self, now: Timestamp) -> Option<u64> {
        let left = self.until - now.millis();
        // A clock that was set back makes nobody wait for longer than the longest wait.
        (1..=LONGEST_WAIT)
            .contains(&left)
            .then(|| u64::try_from(left).unwrap_or_default().div_ceil(1000))
    }

    /// Notes a wrong try.
    pub fn was_wrong(&mut self, now: Timestamp) {
        self.wrong = self.wrong.saturating_add(1);
        if let Some(doublings) = self.wrong.checked_sub(FREE) {
            let wait = FIRST_WAIT << doublings.min(6);
            self.until = now.millis() + wait.min(LONGEST_WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapdesk_service::entropy::OsEntropy;

    #[test]
    fn a_pin_is_known_by_its_hash_alone() {
        let pin = PinHash::of("2580", &OsEntropy).unwrap();
        assert!(pin.is("2580"));
        assert!(!pin.is("2581"));
        assert!(!pin.is(""));
        assert_ne!(pin, PinHash::of("2580", &OsEntropy).unwrap(), "salted");
        let kept = serde_json::to_string(&pin).unwrap();
        assert!(!kept.contains("2580"));
        assert_eq!(format!("{pin:?}"), "PinHash");
    }

    #[test]
    fn a_pin_has_four_to_twelve_digits() {
        for pin in ["", "123", "1234567890123", "12a4", "１２３４"] {
            assert!(PinHash::of(pin, &OsEntropy).is_err(), "{pin}");
        }
    }

    #[test]
    fn wrong_tries_wait_longer_and_longer_and_never_for_ever() {
        let at = Timestamp::from_millis;
        let mut tries = Tries::default();
        tries.was_wrong(at(0));
        tries.was_wrong(at(0));
        assert_eq!(tries.wait(at(0)), None);
        let mut waits = Vec::new();
        for _ in 0..9 {
            tries.was_wrong(at(0));
            waits.push(tries.wait(at(0)).unwrap());
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(tries.wait(at(300_000)), None);
        assert_eq!(tries.wait(at(-900_000)), None, "the clock was set back");
    }
}
