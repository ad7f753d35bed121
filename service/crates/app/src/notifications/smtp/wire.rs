//! The connection below the mail library, which bounds what a server can send.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Most bytes that a server sends in a conversation. Its answers have some hundred, and its
/// certificates some thousand.
const RECEIVED_MAX: usize = 256 * 1024;
/// Bytes that are read at once.
const CHUNK: usize = 4 * 1024;

/// A server sent more than [`RECEIVED_MAX`]. The mail library collects a line in memory until it
/// ends.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("too many bytes")]
pub(super) struct TooMuch;

/// A connection to a mail server. It passes on at most one line at once, so that no answer that a
/// server sends in clear beside the one to STARTTLS is read after the encryption: the TLS layer gets
/// it, and fails.
#[derive(Debug)]
pub(super) struct Wire {
    tcp: TcpStream,
    /// Bytes that were read and not passed on yet.
    read: Vec<u8>,
    received: usize,
}

impl Wire {
    pub(super) const fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            read: Vec::new(),
            received: 0,
        }
    }
}

impl AsyncTokioStream for Wire {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.peer_addr()
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.read.is_empty() {
            let mut bytes = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.tcp).poll_read(context, &mut chunk))?;
            this.received += chunk.filled().len();
            if this.received > RECEIVED_MAX {
                return Poll::Ready(Err(io::Error::other(TooMuch)));
            }
            this.read.extend_from_slice(chunk.filled());
        }
        let line = this.read.iter().position(|byte| *byte == b'\n');
        let line = line.map_or(this.read.len(), |end| end + 1);
        let passed = line.min(into.remaining());
        into.put_slice(&this.read[..passed]);
        this.read.drain(..passed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().tcp).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}
