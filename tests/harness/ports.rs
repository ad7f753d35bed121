//! Ports for programs that cannot be given port 0.
//!
//! A port that the system hands out may be anyone's next connection's before the
//! program has bound it, and again while it is being restarted. These lie below
//! what systems hand out (32,768 on Linux, 49,152 elsewhere), and each process of
//! tests begins at a place of its own.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Most systems need a privilege for lower ones, or have servers there.
const FIRST: u32 = 10_000;
const COUNT: u32 = 32_768 - FIRST;
/// What lies between two processes that were started one after the other.
const APART: u32 = 101;

/// A port of the loopback at which nobody listens.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    free_ports(1)
}

/// The first of `count` ports of the loopback side by side, at which nobody listens.
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
