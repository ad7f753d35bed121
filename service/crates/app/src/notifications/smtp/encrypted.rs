//! A connection to a mail server that is encrypted from its first byte.
#![expect(
    deprecated,
    reason = "the mail library encrypts a stream that is not its own only by this type"
)]

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::io::{AsyncRead as FuturesRead, AsyncWrite as FuturesWrite};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::{AsyncNetworkStream, AsyncTokioStream, TlsParameters};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::wire::Wire;

/// A [`Wire`] that is encrypted before the server says a word.
#[derive(Debug)]
pub(super) struct Encrypted(AsyncNetworkStream);

impl Encrypted {
    /// Encrypts a connection, and checks the server's certificate.
    pub(super) async fn new(wire: Wire, tls: TlsParameters) -> Result<Self, Error> {
        let mut stream = AsyncNetworkStream::use_existing_tokio1(Box::new(wire));
        stream.upgrade_tls(tls).await?;
        Ok(Self(stream))
    }
}

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let inner = Pin::new(&mut self.get_mut().0);
        let read = ready!(FuturesRead::poll_read(
            inner,
            context,
            into.initialize_unfilled()
        ))?;
        into.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        FuturesWrite::poll_write(Pin::new(&mut self.get_mut().0), context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        FuturesWrite::poll_flush(Pin::new(&mut self.get_mut().0), context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        FuturesWrite::poll_close(Pin::new(&mut self.get_mut().0), context)
    }
}
