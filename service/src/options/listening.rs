//! Where the service listens.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::Args;
use clap::builder::BoolishValueParser;

/// Where the service listens by default.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

/// An address by which this machine itself reaches a listener.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Why the service cannot listen, and the way out, in words.
pub(crate) fn cannot_listen(option: &str, address: SocketAddr, error: &io::Error) -> String {
    let (ip, port) = (address.ip(), address.port());
    match error.kind() {
        ErrorKind::AddrInUse => format!(
            "Port {port} is used by another program. Choose another with {option} {}, or a free one with port 0.",
            SocketAddr::new(ip, port.checked_add(1).unwrap_or(LISTEN.port()))
        ),
        ErrorKind::AddrNotAvailable => format!(
            "{ip} is no address of this machine. Listen on 127.0.0.1, or on 0.0.0.0 for all of its addresses."
        ),
        ErrorKind::PermissionDenied => format!(
            "The system does not let this user listen on port {port}. Choose one of 1024 or above, or give the \
             service the capability CAP_NET_BIND_SERVICE."
        ),
        _ => format!("The service cannot listen on {address}: {error}."),
    }
}

/// Reads an address and a port to listen on.
pub(super) fn listener(text: &str) -> Result<SocketAddr, &'static str> {
    let why = "a listener is an IP address and a port, such as 127.0.0.1:8787 or [::]:8787";
    text.parse().map_err(|_| why)
}

/// How the service is reached, and by whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct Listening {
    /// The address and port to listen on; port 0 picks a free port.
    #[arg(
        long,
        env = "TAPDESK_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value_t = LISTEN,
        value_parser = listener
    )]
    pub listen: SocketAddr,

    /// Serve the admin API even if the address is not a loopback address.
    #[arg(long, env = "TAPDESK_EXPOSE_ADMIN", value_parser = BoolishValueParser::new())]
    pub expose_admin: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_with_a_name_is_refused_with_an_example() {
        assert_eq!(listener("127.0.0.1:8787"), Ok(LISTEN));
        assert!(listener("[::]:0").is_ok());
        for text in ["localhost:8787", ":8787", "8787", "127.0.0.1", ""] {
            let why = listener(text).unwrap_err();
            assert!(why.contains("127.0.0.1:8787"), "{text}: {why}");
        }
    }
}
