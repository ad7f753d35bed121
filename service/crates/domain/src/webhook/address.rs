//! The addresses that webhooks may use. The owner chooses the URL, so the service must not give
//! access to its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether `address` belongs to the public internet. Addresses in IANA's registries of special
/// purpose addresses (RFC 6890) do not, unless they are globally reachable. IPv6 addresses that
/// contain an IPv4 address do not either, because a translator could forward to any IPv4 address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Address of Azure's `WireServer`. It is in a public range, but only reachable from Azure's own
/// machines. The metadata services of other clouds use link-local or shared addresses.
const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address == AZURE
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || (a == 100 && b & 0xC0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && b & 0xFE == 18)
        || address.is_documentation()
        // Alibaba's metadata service is in 100.64.0.0/10; those of others are link-local.
        // 240.0.0.0/4 is reserved.
        || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is assigned to the public internet.
    first & 0xE000 == 0x2000
        // Teredo, benchmarks, ORCHID and others of 2001::/23.
        && !(first == 0x2001 && second < 0x200)
        && !(first == 0x2001 && second == 0x0DB8)
        // 6to4 addresses contain an IPv4 address.
        && first != 0x2002
        // Documentation, RFC 9637.
        && !(first == 0x3FFF && second < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_network_of_its_own_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:168.63.129.16",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "168.63.129.15",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:1.1.1.1",
            "2001:200::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
