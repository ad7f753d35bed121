//! Identifies callers by address, without revealing the address.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use domain::interaction::Client;

/// Derives client identities with a secret that no export contains.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Clients([u8; 32]);

impl Clients {
    /// Derives identities with `secret`.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The identity of a client with this `address` and `User-Agent`.
    pub(crate) fn identify(&self, address: IpAddr, user_agent: &[u8]) -> Client {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes any key length");
        mac.update(&network(address).to_be_bytes());
        mac.update(user_agent);
        let tag = mac.finalize().into_bytes();
        Client(std::array::from_fn(|i| tag[i]))
    }
}

/// The network that counts as one client: an IPv4 address, or the /64 prefix of an IPv6 address.
pub(crate) fn network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64,
    }
}
