//! Who calls: an address, and an identity from which the address does not follow.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::interaction::ClientId;

/// Makes clients' identities under a secret that is in no export.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Clients([u8; 32]);

impl Clients {
    /// Identities under `secret`.
    pub(super) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The identity of a client at `address` with the given `User-Agent`.
    pub(super) fn identify(&self, address: IpAddr, user_agent: &[u8]) -> ClientId {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes any key length");
        mac.update(&network(address).to_be_bytes());
        mac.update(user_agent);
        let tag = mac.finalize().into_bytes();
        ClientId(std::array::from_fn(|i| tag[i]))
    }
}

/// The identity of a client: its IPv4 address, or the /64 of its IPv6 address.
pub(super) fn network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64,
    }
}
