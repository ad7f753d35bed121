//! The TCP listener of the embedded service: its port, and the routes that each client can reach.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::extract::Request;
use tapdesk_service::{AppState, Arrival, Exposure, listen, router};
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::carriers::Carriers;

/// The port of the first start, if it is free.
const FIRST_PORT: u16 = 8787;
/// How many ports after a taken one are tried before the system chooses.
const LOOK_AHEAD: u16 = 20;

/// The owner's and the caller's wishes for the listener.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// Address and port from an argument or the environment, which have priority.
    pub at: Option<SocketAddr>,
    /// The port that the owner chose; `None` to let the service choose.
    pub fixed: Option<u16>,
    /// The port of the last start, preferred because tag URLs contain it.
    pub last: Option<u16>,
    /// Whether phones on this network may connect.
    pub phones: bool,
    /// Counts of everything that led to the port that the owner left for the fixed one.
    pub left: Option<Carriers>,
}

/// The reason why a port cannot be used.
#[derive(Debug)]
pub struct BindError {
    /// The port that was wanted.
    pub port: u16,
    /// The system's error when binding the port.
    pub error: io::Error,
    /// A port that is free, to offer instead.
    pub free: Option<u16>,
    /// Whether the port comes from an argument or the environment, so that only they can change it.
    pub from_outside: bool,
    /// Counts of everything that leads to the port, if that keeps the service from moving.
    pub carriers: Option<Carriers>,
}

/// A bound listener, perhaps on another port than the wanted one.
#[derive(Debug)]
pub struct Bound {
    /// The listener, ready to accept connections.
    pub listener: TcpListener,
    /// The reason why it is not on the wanted port. Once the database says whether anything leads
    /// to that port, the caller decides whether another port will do.
    pub refused: Option<BindError>,
}

/// Binds the fixed address if there is one; otherwise the wanted port or the next free one. Must be
/// called inside a runtime.
pub fn bind(wish: Wish) -> Result<Bound, BindError> {
    if let Some(address) = wish.at {
        let refused = |error| BindError {
            port: address.port(),
            error,
            free: None,
            from_outside: true,
            carriers: None,
        };
        let listener = listen(address).map_err(refused)?;
        return Ok(Bound {
            listener,
            refused: None,
        });
    }
    let address = interface(wish.phones);
    let wanted = wish.fixed.or(wish.last).unwrap_or(FIRST_PORT);
    let error = match listen((address, wanted).into()) {
        Ok(listener) => {
            return Ok(Bound {
                listener,
                refused: None,
            });
        }
        Err(error) => error,
    };
    let next = next_free(address, wanted).ok();
    let free = next.as_ref().and_then(|next| next.local_addr().ok());
    let refused = BindError {
        port: wanted,
        error,
        free: free.map(|address| address.port()),
        from_outside: false,
        carriers: None,
    };
    match next {
        Some(listener) => Ok(Bound {
            listener,
            refused: Some(refused),
        }),
        None => Err(refused),
    }
}

/// A listener on the first free port after `taken`, or on one that the system chooses.
fn next_free(address: Ipv4Addr, taken: u16) -> io::Result<TcpListener> {
    for port in (taken..=u16::MAX).skip(1).take(LOOK_AHEAD.into()) {
        match listen((address, port).into()) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(_) => break,
            Ok(listener) => return Ok(listener),
        }
    }
    listen((address, 0).into())
}

fn interface(phones: bool) -> Ipv4Addr {
    if phones {
        Ipv4Addr::UNSPECIFIED
    } else {
        Ipv4Addr::LOCALHOST
    }
}

/// The routes by client: this machine gets all of them, others only the public ones. A packet that
/// claims a loopback address but comes from another machine is dropped by the system before it gets
/// here.
pub fn routes(state: &AppState) -> Router {
    let here = router(state.clone(), Exposure::WithAdmin);
    let others = router(state.clone(), Exposure::PublicOnly);
    Router::new().fallback(move |request: Request| {
        let arrival = request.extensions().get::<Arrival>();
        let peer = arrival.map(|arrival| arrival.peer().ip().to_canonical());
        let is_here = peer.is_some_and(|peer| peer.is_loopback());
        let router = if is_here { &here } else { &others };
        router.clone().oneshot(request)
    })
}

/// The URL by which this machine reaches a listener at `address`.
pub fn local_address(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    url(SocketAddr::new(ip, address.port()))
}

/// URLs by which others on this network reach a listener at `address`; none if it listens on
/// loopback only.
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

/// URLs by which phones on this network reach the listener. The one of the default route is first.
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

    fn port_of(bound: &Bound) -> u16 {
        bound.listener.local_addr().unwrap().port()
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_named_with_the_free_one_that_it_listens_on_meanwhile() {
        let (other, port) = taken().await;
        for wish in [
            Wish {
                fixed: Some(port),
                ..Wish::default()
            },
            Wish {
                last: Some(port),
                ..Wish::default()
            },
        ] {
            let bound = bind(wish).unwrap();
            let refused = bound.refused.as_ref().unwrap();
            assert_eq!(refused.port, port);
            assert_eq!(refused.error.kind(), ErrorKind::AddrInUse);
            assert_ne!(refused.free, Some(port));
            assert_eq!(refused.free, Some(port_of(&bound)));
        }
        drop(other);
        let wish = Wish {
            last: Some(port),
            ..Wish::default()
        };
        let again = bind(wish).unwrap();
        assert!(again.refused.is_none());
        let address = again.listener.local_addr().unwrap();
        assert_eq!(address, SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
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
        let refused = bind(wish).unwrap_err();
        assert_eq!((refused.port, refused.free), (port, None));
        assert!(refused.from_outside);
        let wish = Wish {
            at: Some((Ipv4Addr::LOCALHOST, 0).into()),
            ..wish
        };
        let address = bind(wish).unwrap().listener.local_addr().unwrap();
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
            // The number depends on the machine.
            assert!(others.is_none_or(|others| found.len() == others), "{at}");
        }
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
        let address = bind(wish).unwrap().listener.local_addr().unwrap();
        assert!(address.ip().is_unspecified());
    }
}
