//! AES-CMAC, by which chips make their codes, and schemes derive keys.

use aes::Aes128Enc;
use aes::cipher::KeyInit;
use cmac::{Cmac, Mac};

use super::AesKey;

/// The AES-CMAC of `input` (NIST SP 800-38B), 16 bytes.
pub fn cmac(key: &AesKey, input: &[u8]) -> [u8; 16] {
    #[cfg(any(test, feature = "effort"))]
    crate::effort::count(1 + input.len().div_ceil(16).max(1));
    Cmac::<Aes128Enc>::new(key.expose().into())
        .chain_update(input)
        .finalize()
        .into_bytes()
        .into()
}
