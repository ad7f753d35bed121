//! The TCP listener of the embedded service: which port, and who reaches what.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::extract::Request;
use tapdesk_service::{AppState, Exposure, Peer, router};
use tokio::net::TcpListener;
use tower::ServiceExt as _;

/// The port of a first start, if it is free.
const FIRST_PORT: u16 = 8787;
/// How many ports after a taken one are looked at before the system chooses.
const LOOK_AHEAD: u16 = 20;

/// How the service is to listen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// Where it is to listen, fixed from outside: by an argument or the environment.
    pub at: Option<SocketAddr>,
    /// The port that the owner fixed.
    pub fixed: Option<u16>,
    /// The port of the last start.
    pub last: Option<u16>,
    /// Whether phones on this network reach it.
    pub phones: bool,
}

/// Why a port cannot be listened on.
#[derive(Debug)]
pub struct BindError {
    /// The port.
    pub port: u16,
    /// What the system says.
    pub error: io::Error,
    /// A port that is free.
    pub free: Option<u16>,
    /// Whether the port is fixed from outside, where alone it can be changed.
    pub from_outside: bool,
}

/// Listens at the fixed address if there is one; otherwise on the last port or
/// the next free one.
pub async fn bind(wish: Wish) -> Result<TcpListener, BindError> {
    if let Some(address) = wish.at {
        let refused = |error| BindError {
            port: address.port(),
            error,
            free: None,
            from_outside: true,
        };
        return TcpListener::bind(address).await.map_err(refused);
    }
    let address = interface(wish.phones);
    let first = wish.fixed.or(wish.last).unwrap_or(FIRST_PORT);
    match TcpListener::bind((address, first)).await {
        Ok(listener) => Ok(listener),
        Err(_) if wish.fixed.is_none() => {
            let refused = |error| BindError {
                port: first,
                error,
                free: None,
                from_outside: false,
            };
            next_free(address, first).await.map_err(refused)
        }
        Err(error) => {
            let free = next_free(address, first).await.ok();
            let free = free.and_then(|listener| listener.local_addr().ok());
            Err(BindError {
                port: first,
                error,
                free: free.map(|address| address.port()),
                from_outside: false,
            })
        }
    }
}

/// A listener on the first free port after `taken`, or one of the system's choice.
async fn next_free(address: Ipv4Addr, taken: u16) -> io::Result<TcpListener> {
    for port in (taken..=u16::MAX).skip(1).take(LOOK_AHEAD.into()) {
        match TcpListener::bind((address, port)).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(_) => break,
            Ok(listener) => return Ok(listener),
        }
    }
    TcpListener::bind((address, 0)).await
}

fn interface(phones: bool) -> Ipv4Addr {
    if phones {
        Ipv4Addr::UNSPECIFIED
    } else {
        Ipv4Addr::LOCALHOST
    }
}

/// What the listener serves: everything to this machine, to others what the
/// world may call. A packet that claims a loopback address but comes from
/// elsewhere is dropped by the system before it gets here.
pub fn routes(state: &AppState) -> Router {
    let here = router(state.clone(), Exposure::WithAdmin);
    let elsewhere = router(state.clone(), Exposure::PublicOnly);
    Router::new().fallback(move |request: Request| {
        let peer = request.extensions().get::<Peer>();
        let is_here = peer.is_some_and(|Peer(address)| address.ip().to_canonical().is_loopback());
        let router = if is_here { &here } else { &elsewhere };
        router.clone().oneshot(request)
    })
}

/// The address by which this machine reaches a listener at `address`.
pub fn local_address(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    url(SocketAddr::new(ip, address.port()))
}

/// Addresses by which others on this network reach a listener at `address`; none
/// if it listens to this machine alone.
pub fn others_addresses(address: SocketAddr) -> Vec<String> {
    match address.ip().to_canonical() {
        ip if ip.is_loopback() => Vec::new(),
        ip if ip.is_unspecified() => network_addresses(address.port()),
        _ => vec![url(address)],
    }
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Addresses by which phones on this network reach the listener, the one of the
/// default route first.
fn network_addresses(port: u16) -> Vec<String> {
    let main = local_ip_address::local_ip().ok();
    let others = local_ip_address::list_afinet_netifas().unwrap_or_default();
    let mut addresses = Vec::new();
    for address in main.into_iter().chain(others.into_iter().map(|(_, ip)| ip)) {
        if let IpAddr::V4(address) = address
            && !address.is_loopback()
            && !address.is_link_local()
            && !addresses.contains(&address)
        {
            addresses.push(address);
        }
    }
    let at = |ip: Ipv4Addr| url(SocketAddr::from((ip, port)));
    addresses.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn taken() -> (TcpListener, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[tokio::test]
    async fn a_fixed_port_that_is_taken_is_refused_and_a_free_one_named() {
        let (_other, port) = taken().await;
        let wish = Wish {
            fixed: Some(port),
            ..Wish::default()
        };
        let refused = bind(wish).await.unwrap_err();
        assert_eq!(refused.port, port);
        assert_eq!(refused.error.kind(), ErrorKind::AddrInUse);
        let free = refused.free.unwrap();
        assert_ne!(free, port);
        let wish = Wish {
            fixed: Some(free),
            ..Wish::default()
        };
        assert_eq!(bind(wish).await.unwrap().local_addr().unwrap().port(), free);
    }

    #[tokio::test]
    async fn where_it_is_fixed_from_outside_it_listens_or_not_at_all() {
        let (_other, port) = taken().await;
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let wish = Wish {
            at: Some(at),
            phones: true,
            ..Wish::default()
        };
        let refused = bind(wish).await.unwrap_err();
        assert_eq!((refused.port, refused.free), (port, None));
        assert!(refused.from_outside);
        let wish = Wish {
            at: Some((Ipv4Addr::LOCALHOST, 0).into()),
            ..wish
        };
        let address = bind(wish).await.unwrap().local_addr().unwrap();
        assert!(address.ip().is_loopback(), "the choices do not widen it");
    }

    #[test]
    fn a_listener_is_reached_by_what_it_listens_to() {
        for (at, here, others) in [
            ("127.0.0.1:8787", "http://127.0.0.1:8787", Some(0)),
            ("0.0.0.0:8787", "http://127.0.0.1:8787", None),
            ("[::]:8787", "http://[::1]:8787", None),
            ("[::1]:8787", "http://[::1]:8787", Some(0)),
            ("192.0.2.7:8787", "http://192.0.2.7:8787", Some(1)),
        ] {
            let at: SocketAddr = at.parse().unwrap();
            assert_eq!(local_address(at), here);
            let found = others_addresses(at);
            // How many a machine has is its own affair.
            assert!(others.is_none_or(|others| found.len() == others), "{at}");
        }
    }

    #[tokio::test]
    async fn the_last_port_is_taken_again_and_given_up_for_another_where_it_is_taken() {
        let (other, port) = taken().await;
        let wish = Wish {
            last: Some(port),
            ..Wish::default()
        };
        let next = bind(wish).await.unwrap().local_addr().unwrap().port();
        assert_ne!(next, port);
        drop(other);
        let again = bind(wish).await.unwrap().local_addr().unwrap();
        assert_eq!(again, SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }

    #[tokio::test]
    async fn phones_need_a_listener_on_every_interface() {
        let (other, port) = taken().await;
        drop(other);
        let wish = Wish {
            last: Some(port),
            phones: true,
            ..Wish::default()
        };
        let address = bind(wish).await.unwrap().local_addr().unwrap();
        assert!(address.ip().is_unspecified());
    }
}
