//! The host by which something is addressed, however it is spelled.

use std::net::{IpAddr, Ipv6Addr};

use url::Host;

/// A host from its name or address. An IPv6 address may stand in brackets or
/// without; a port makes it no host.
pub(crate) fn parse(text: &str) -> Option<Host> {
    match text.parse::<Ipv6Addr>() {
        Ok(address) => Some(canonical(Host::Ipv6(address))),
        Err(_) => in_url(text),
    }
}

/// The host in an authority, which is what a `Host` header has: a port may
/// follow it (RFC 3986, section 3.2).
pub(crate) fn of_authority(text: &str) -> Option<Host> {
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an IPv6 address stand in its brackets.
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (text, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    is_port.then(|| in_url(host)).flatten()
}

/// The host of a URL, and no other spelling of an IPv4 address.
pub(crate) fn of_url(text: &str) -> Option<Host> {
    let url = url::Url::parse(text).ok()?;
    url.host().map(|host| canonical(host.to_owned()))
}

/// The address that a host is, if it is one.
pub(crate) fn address(host: &Host) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address)),
    }
}

fn in_url(text: &str) -> Option<Host> {
    // A dot at the end is the root of all names.
    Host::parse(text.trim_end_matches('.')).ok().map(canonical)
}

/// An IPv4 address that is written as an IPv6 one is the IPv4 address.
fn canonical(host: Host) -> Host {
    match host {
        Host::Ipv6(address) => match address.to_canonical() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        },
        host => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_without_its_port() {
        for (authority, host) in [
            ("localhost:8787", Some("localhost")),
            ("LOCALHOST.", Some("localhost")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]:8787", Some("[::1]")),
            ("[0:0::1]", Some("[::1]")),
            ("[::ffff:127.0.0.1]:80", Some("127.0.0.1")),
            ("evil.example:80", Some("evil.example")),
            ("localhost:", Some("localhost")),
            ("[::1].evil.example", None),
            ("[::1]evil.example", None),
            ("[::1]:80.evil.example", None),
            ("[::1", None),
            ("::1", None),
            ("::1:80", None),
            ("localhost:80:80", None),
            ("someone@localhost", None),
            ("", None),
            (":80", None),
        ] {
            let found = of_authority(authority).map(|host| host.to_string());
            assert_eq!(found.as_deref(), host, "{authority}");
        }
    }

    #[test]
    fn brackets_around_an_ipv6_address_may_be_left_out_where_no_port_can_follow() {
        for (text, host) in [
            ("2001:DB8:0::5", Some("[2001:db8::5]")),
            ("[2001:db8::5]", Some("[2001:db8::5]")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("[2001:db8::5]:80", None),
            ("2001:db8::g", None),
            ("[admin.example]", None),
        ] {
            let found = parse(text).map(|host| host.to_string());
            assert_eq!(found.as_deref(), host, "{text}");
        }
    }
}
