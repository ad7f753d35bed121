//! A connection as hyper sees it. It records each step in its [`Activity`].

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use hyper::rt::{Sleep, Timer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::connections::{Activity, Busy};

/// A connection whose bytes hyper reads and writes, and the socket below it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn socket(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Stream for TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// A connection that records when bytes arrive.
pub(super) struct Watched<S> {
    pub(super) stream: S,
    pub(super) activity: Arc<Activity>,
}

impl<S: Stream> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let came = buffer.filled().len() > before;
        if came || (read.is_pending() && self.activity.was_asked_to_close() && self.has_unread()) {
            self.activity.received();
        }
        read
    }
}

impl<S: Stream> Watched<S> {
    /// Whether the system has bytes that the runtime does not know of. Closing the socket then
    /// would reset a connection whose request has arrived.
    fn has_unread(&self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        let peeked = SockRef::from(self.stream.socket()).peek(&mut byte);
        peeked.is_ok_and(|count| count > 0)
    }
}

impl<S: Stream> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The timer for the request heads of one connection. hyper has a single limit for the pause before
/// a head and for the head itself, and checks it only while it waits for bytes. This timer applies
/// the head's limit as soon as a byte has arrived.
pub(super) struct HeadTimer {
    pub(super) activity: Arc<Activity>,
    /// Time limit of a head, from its first byte.
    pub(super) head: Duration,
}

impl HeadTimer {
    fn limit(&self, pause: tokio::time::Sleep) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadLimit {
            activity: Arc::clone(&self.activity),
            head: Some(self.head),
            ends: Box::pin(pause),
        })
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, pause: Duration) -> Pin<Box<dyn Sleep>> {
        self.limit(tokio::time::sleep(pause))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.limit(tokio::time::sleep_until(deadline.into()))
    }
}

struct HeadLimit {
    activity: Arc<Activity>,
    /// `None` once the head has begun.
    head: Option<Duration>,
    ends: Pin<Box<tokio::time::Sleep>>,
}

impl Future for HeadLimit {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.activity.has_begun()
            && let Some(head) = self.head.take()
        {
            self.ends = Box::pin(tokio::time::sleep(head));
        }
        self.ends.as_mut().poll(cx)
    }
}

impl Sleep for HeadLimit {}

/// The body of an answer. Its connection is busy until hyper has read all of it.
pub(super) struct Answer {
    pub(super) body: Body,
    pub(super) _busy: Busy,
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
