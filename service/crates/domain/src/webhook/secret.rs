//! Secrets of endpoints, and their signatures (Standard Webhooks 1.0, `v1`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::clock::Timestamp;
use crate::entropy::{self, Entropy};
use crate::keyring::{Keyring, KeyringError};

/// The secret that an endpoint shares with the service. It is shown only once.
pub struct Secret(Zeroizing<Vec<u8>>);

/// Length of a new secret, in bytes; the specification requires 24 to 64.
const LENGTH: usize = 32;

impl Secret {
    /// Generates a random secret.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(Zeroizing::new(entropy::bytes::<LENGTH>(entropy).to_vec()))
    }

    /// The secret as text, for its owner.
    pub fn expose(&self) -> String {
        format!("whsec_{}", STANDARD.encode(&*self.0))
    }

    /// Encrypts the secret for the database.
    pub fn wrap(&self, keyring: &Keyring, entropy: &dyn Entropy) -> Result<Vec<u8>, KeyringError> {
        keyring.wrap_secret(&self.0, entropy)
    }

    /// Decrypts a secret of the database.
    pub fn unwrap(wrapped: &[u8], keyring: &Keyring) -> Result<Self, KeyringError> {
        keyring.unwrap_secret(wrapped).map(Self)
    }

    /// The headers of a delivery that only this secret signs.
    pub fn headers(&self, id: &str, now: Timestamp, body: &[u8]) -> [(&'static str, String); 3] {
        let signed = Signed::new(id, now, body, std::slice::from_ref(self));
        [
            ("webhook-id", signed.id),
            ("webhook-timestamp", signed.timestamp),
            ("webhook-signature", signed.signature),
        ]
    }

    fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes any key length");
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// The headers that identify and sign a delivery.
pub struct Signed {
    /// Value of `webhook-id`: the id of the event.
    pub id: String,
    /// Value of `webhook-timestamp`: time of the attempt, in seconds since the Unix epoch.
    pub timestamp: String,
    /// Value of `webhook-signature`: one signature for each secret.
    pub signature: String,
}

impl Signed {
    /// Signs `body`, the body of the message `id`, once with each secret.
    pub fn new(id: &str, now: Timestamp, body: &[u8], secrets: &[Secret]) -> Self {
        let seconds = now.unix_seconds();
        let signatures = secrets.iter().map(|secret| secret.sign(id, seconds, body));
        Self {
            id: id.to_owned(),
            timestamp: seconds.to_string(),
            signature: signatures.collect::<Vec<_>>().join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the tests of the Standard Webhooks libraries.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secret = Secret(Zeroizing::new(secret));
        let now = Timestamp::from_millis(1_614_265_330_999);
        let body = br#"{"test": 2432232314}"#;
        let signed = Signed::new("msg_p5jXN8AQM9LWM0D4loKWxJek", now, body, &[secret]);
        assert_eq!(signed.timestamp, "1614265330");
        assert_eq!(
            signed.signature,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }
}
