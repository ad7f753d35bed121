//! Texts that prove that this service made them, for addresses that nobody can invent.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Characters of a proof: 96 bits.
const LENGTH: usize = 24;

/// Makes and checks proofs, under a secret that all nodes share.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Proofs([u8; 32]);

impl Proofs {
    /// Proofs for one purpose, under a stored secret that is also used for others.
    pub fn new(secret: &[u8; 32], purpose: &str) -> Self {
        Self(mac(secret, purpose))
    }

    /// The proof of `text`: hexadecimal digits.
    pub fn of(&self, text: &str) -> String {
        let mut proof = base16ct::lower::encode_string(&mac(&self.0, text));
        proof.truncate(LENGTH);
        proof
    }

    /// The whole proof of `text`, for a secret that nobody can compute without the stored one.
    pub(crate) fn bytes_of(&self, text: &str) -> [u8; 32] {
        mac(&self.0, text)
    }

    /// Whether `proof` belongs to `text`. The comparison takes constant time, so its duration
    /// reveals nothing.
    pub(crate) fn holds(&self, text: &str, proof: &str) -> bool {
        self.of(text).as_bytes().ct_eq(proof.as_bytes()).into()
    }
}

fn mac(key: &[u8; 32], text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_text_purpose_and_secret_alone() {
        let proofs = Proofs::new(&[7; 32], "one");
        let proof = proofs.of("text");
        assert!(proofs.holds("text", &proof));
        let (shorter, longer) = (&proof[1..], format!("{proof}0"));
        for other in ["", shorter, &longer, &proof.to_uppercase()] {
            assert!(!proofs.holds("text", other), "{other}");
        }
        assert!(!proofs.holds("another", &proof));
        assert!(!Proofs::new(&[7; 32], "two").holds("text", &proof));
        assert!(!Proofs::new(&[8; 32], "one").holds("text", &proof));
    }
}
