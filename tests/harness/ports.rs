//! Ports for programs that cannot be given port 0.
//!
//! Between its reservation by the system and the program's bind, another connection may take such a
//! port, and again while the program is being restarted. So these ports are below the range that
//! systems assign (32,768 on Linux, 49,152 on others), and each test process begins at another
//! port.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// On most systems, lower ports need a privilege or have servers.
const FIRST: u32 = 10_000;
const COUNT: u32 = 32_768 - FIRST;
/// Distance between the first ports of two processes that start one after the other.
const APART: u32 = 101;

/// A port of the loopback on which nothing listens.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    free_ports(1)
}

/// A free port for a desktop, with those above it for the same test only: the desktop goes to the
/// next free one, or offers it, if its own is taken.
///
/// # Panics
/// When there is none.
pub fn base_port() -> u16 {
    const ABOVE: u16 = 8;
    free_ports(1 + ABOVE)
}

/// The first of `count` adjacent ports of the loopback on which nothing listens.
///
/// # Panics
/// When there are none.
pub fn free_ports(count: u16) -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    for _ in 0..COUNT {
        let given = GIVEN.fetch_add(count.into(), Ordering::Relaxed);
        let place = (std::process::id().wrapping_mul(APART).wrapping_add(given)) % COUNT;
        let first = u16::try_from(FIRST + place).expect("all are below 32,768");
        let mut wanted = first..first + count;
        if wanted.all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
    panic!("every port is in use")
}
