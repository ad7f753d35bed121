//! Hosts in one canonical form, whatever their spelling.

use std::net::{IpAddr, Ipv6Addr};

use url::Host;

/// A host from its name or address. An IPv6 address may have brackets. `None` if the text has a
/// port.
pub fn parse(text: &str) -> Option<Host> {
    match text.parse::<Ipv6Addr>() {
        Ok(address) => Some(canonical(Host::Ipv6(address))),
        Err(_) => in_url(text),
    }
}

/// The host of an authority, as in a `Host` header: a port may follow it (RFC 3986, section 3.2).
pub fn of_authority(text: &str) -> Option<Host> {
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (text, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    is_port.then(|| in_url(host)).flatten()
}

/// The host of a URL. An IPv4 address has only one spelling there.
pub fn of_url(text: &str) -> Option<Host> {
    let url = url::Url::parse(text).ok()?;
    let host = url.host().filter(is_name)?;
    Some(canonical(host.to_owned()))
}

/// The address, if the host is one.
pub fn address(host: &Host) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address)),
    }
}

/// Whether a host refers to the computer that opens it: a loopback address, or a name that stands
/// for one (RFC 6761, section 6.3).
pub fn is_loopback<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.as_ref();
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn in_url(text: &str) -> Option<Host> {
    // A dot at the end only marks a fully qualified name.
    let host = Host::parse(text.trim_end_matches('.')).ok()?;
    is_name(&host).then(|| canonical(host))
}

/// Whether a host is an address, or a name that can have an address. URLs accept more, such as `*`,
/// which looks like a wildcard but is not.
fn is_name<S: AsRef<str>>(host: &Host<S>) -> bool {
    let Host::Domain(name) = host else {
        return true;
    };
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    name.as_ref().bytes().all(part)
}

/// An IPv4 address in the form of IPv6 becomes the IPv4 address.
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
            ("*", None),
            ("*.example", None),
            ("admin.*", None),
            ("a_b.bücher.example", Some("a_b.xn--bcher-kva.example")),
        ] {
            let found = parse(text).map(|host| host.to_string());
            assert_eq!(found.as_deref(), host, "{text}");
        }
    }
}
