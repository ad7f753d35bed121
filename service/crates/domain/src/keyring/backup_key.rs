//! The key that seals backups. Changing a backup that contains the wrapping key requires that key,
//! or the passphrase that opens it.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Separates this use of the wrapping key from all others.
const PURPOSE: &[u8] = b"tapdesk backup seal v1";

/// Seals backups, and recognises its own seals. It is derived from the wrapping key, so that a
/// backup can be sealed without its passphrase, which is not stored.
pub struct BackupKey(Zeroizing<[u8; 32]>);

impl BackupKey {
    /// The backup key for a wrapping key.
    pub fn of(wrapping_key: &[u8; 32]) -> Self {
        let key = mac(wrapping_key, PURPOSE).finalize().into_bytes();
        Self(Zeroizing::new(key.into()))
    }

    /// The seal of a backup with this digest of its content.
    pub fn seal(&self, digest: &[u8; 32]) -> [u8; 32] {
        mac(&self.0, digest).finalize().into_bytes().into()
    }

    /// Whether `seal` was made with this key. The comparison takes constant time.
    pub fn has_sealed(&self, digest: &[u8; 32], seal: &[u8; 32]) -> bool {
        mac(&self.0, digest).verify_slice(seal).is_ok()
    }
}

impl fmt::Debug for BackupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackupKey(redacted)")
    }
}

fn mac(key: &[u8; 32], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac
}
