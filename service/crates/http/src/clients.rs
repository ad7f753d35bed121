//! Identifies callers by address, without revealing the address.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use domain::interaction::Client;

/// Derives client identities with a secret that no export contains.
///
/// The secret is kept as the state of the HMAC after the key: each tap has a client, and making
/// this state takes two fifths of its HMAC. The state wipes itself when it is dropped.
pub(crate) struct Clients(Hmac<Sha256>);

impl Clients {
    /// Derives identities with `secret`.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        let secret = Zeroizing::new(secret);
        Self(Hmac::new_from_slice(&secret[..]).expect("HMAC takes any key length"))
    }

    /// The identity of a client with this `address` and `User-Agent`.
    pub(crate) fn identify(&self, address: IpAddr, user_agent: &[u8]) -> Client {
        let mut mac = self.0.clone();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_the_same_in_every_version_and_at_every_tap() {
        let clients = Clients::new([7; 32]);
        // Computed by another implementation of HMAC.
        for (address, identity) in [
            ("203.0.113.7", 0x7188_b560_98f2_2b8c_c8e6_544a_f2e7_b2a2),
            ("2001:db8:0:1::9", 0x3bd7_5f11_fc74_e5fe_5416_29c7_fb66_398f),
            (
                "::ffff:203.0.113.7",
                0x7188_b560_98f2_2b8c_c8e6_544a_f2e7_b2a2,
            ),
        ] {
            let found = clients.identify(address.parse().unwrap(), b"Mozilla/5.0");
            assert_eq!(u128::from_be_bytes(found.0), identity, "{address}");
        }
    }
}
