//! Opens a listening socket.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// Maximum number of connections that wait to be accepted. If the queue is full, the system
/// completes the handshake, drops the connection after some seconds and resets it when the visitor
/// sends. With the runtime's default of 128, a crowd at one poster or a short load peak is enough
/// for that. Linux uses at most `net.core.somaxconn`, by default 4,096.
const BACKLOG: u32 = 4_096;

/// Listens at `address`; port 0 selects a free port. Requires a runtime.
///
/// # Errors
/// If the address is in use, does not belong to this machine, or requires other permissions.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A restart must not wait for old connections. Windows does not wait anyway, and the option
    // would let two programs share one port there.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
