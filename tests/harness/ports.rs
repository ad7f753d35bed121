//! Ports for programs that cannot be given port 0.
//!
//! Between its reservation by the system and the program's bind, another connection may take such a
//! port, and again while the program is being restarted. So these ports are below the range that
//! systems assign (32,768 on Linux, 49,152 on others), and each block of them is of one test process
//! at a time: the process keeps the first port of its blocks bound.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// On most systems, lower ports need a privilege or have servers.
const FIRST: u16 = 10_000;
/// Ports of a block: enough for most test processes.
const BLOCK: u16 = 64;
const BLOCKS: u16 = (32_768 - FIRST) / BLOCK;

/// The ports that this process can give to tests.
struct Own {
    /// Keeps other processes from the blocks of this one, until the process ends.
    held: Vec<TcpListener>,
    /// The rest of the newest block.
    left: Range<u16>,
}

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

/// The first of `count` adjacent ports of the loopback on which nothing listens. No other test gets
/// them, also of another process, as long as this process runs.
///
/// # Panics
/// When there are none, or `count` are more than a block has.
pub fn free_ports(count: u16) -> u16 {
    static OWN: Mutex<Own> = Mutex::new(Own {
        held: Vec::new(),
        left: 0..0,
    });
    assert!(count < BLOCK, "a block has no {count} ports");
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if own.left.len() < usize::from(count) {
            let (held, left) = free_block();
            own.held.push(held);
            own.left = left;
        }
        let first = own.left.start;
        let mut wanted = first..first + count;
        // A program that outlived its test may have one of them.
        if wanted.all(is_free) {
            own.left.start = first + count;
            return first;
        }
        own.left.start += 1;
    }
}

/// A block that no test process has: its first port, bound, and its other ports.
fn free_block() -> (TcpListener, Range<u16>) {
    // Processes that run at the same time mostly begin at different blocks.
    let start = std::process::id() % u32::from(BLOCKS);
    let start = u16::try_from(start).expect("it is below the number of blocks");
    for place in 0..BLOCKS {
        let first = FIRST + (start + place) % BLOCKS * BLOCK;
        if let Ok(held) = TcpListener::bind(("127.0.0.1", first)) {
            return (held, first + 1..first + BLOCK);
        }
    }
    panic!("every port is in use")
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_of_one_process_until_that_ends() {
        let (_held, ports) = free_block();
        // Another process may begin its search at the same block.
        let (_held_too, next) = free_block();
        assert!(ports.end < next.start || next.end < ports.start);
        assert!(!is_free(ports.start - 1) && !is_free(next.start - 1));
    }

    #[test]
    fn adjacent_ports_are_of_one_test() {
        let mut given: Vec<_> = (0..20).map(|_| free_ports(9)).collect();
        given.sort_unstable();
        assert!(given.windows(2).all(|two| two[1] >= two[0] + 9));
    }
}
