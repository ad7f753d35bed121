//! The PIN that ends the kiosk, as it is stored.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tapdesk_service::entropy::{self, Entropy};

/// Argon2id with 19 MiB, 2 passes, 1 lane (OWASP Password Storage Cheat Sheet).
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// How many digits a PIN may have.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=12;

/// The stored form of a PIN: finding the PIN takes as many tries as there are PINs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinHash {
    salt: String,
    hash: String,
}

impl PinHash {
    /// Hashes a new PIN. An `Err` is a sentence for people.
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

    /// Whether `pin` is the one that was hashed.
    pub fn is(&self, pin: &str) -> bool {
        let salt = STANDARD.decode(&self.salt).unwrap_or_default();
        // The comparison need not take constant time: the hashes reveal nothing about the PIN.
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
}
