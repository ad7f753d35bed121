//! A connection as hyper sees it. It records each step in its [`Activity`].

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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
///
/// All heads of the connection share one [`Alarm`], because hyper asks for a limit at each request.
pub(super) struct HeadTimer {
    activity: Arc<Activity>,
    /// Time limit of a head, from its first byte.
    head: Duration,
    alarm: Arc<Alarm>,
}

impl HeadTimer {
    pub(super) fn new(activity: Arc<Activity>, head: Duration) -> Self {
        Self {
            activity,
            head,
            alarm: Arc::default(),
        }
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, pause: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + pause)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadLimit {
            activity: Arc::clone(&self.activity),
            head: Some(self.head),
            ends: deadline.into(),
            alarm: Arc::clone(&self.alarm),
        })
    }
}

struct HeadLimit {
    activity: Arc<Activity>,
    /// `None` once the head has begun.
    head: Option<Duration>,
    ends: tokio::time::Instant,
    alarm: Arc<Alarm>,
}

impl Future for HeadLimit {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.activity.has_begun()
            && let Some(head) = self.head.take()
        {
            self.ends = tokio::time::sleep(head).deadline();
        }
        self.alarm.poll_at(self.ends, cx)
    }
}

impl Sleep for HeadLimit {}

/// A timer for one deadline after the other. A later deadline leaves it as it is; when it rings too
/// early, it is set again. So the runtime's timers change once in the time of a limit, instead of
/// twice for each request.
#[derive(Default)]
struct Alarm(Mutex<Option<Pin<Box<tokio::time::Sleep>>>>);

impl Alarm {
    /// Whether `deadline` is reached. If not, it wakes the task then, and perhaps earlier.
    fn poll_at(&self, deadline: tokio::time::Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut alarm = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if deadline < alarm.deadline() {
            alarm.as_mut().reset(deadline);
        }
        while alarm.as_mut().poll(cx).is_ready() {
            if alarm.deadline() >= deadline {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures_util::FutureExt as _;

    use super::*;
    use domain::clock::Stopwatch;

    /// The time until the alarm rings, if that is due in `limit`.
    async fn rings_after(alarm: &Alarm, limit: Duration) -> Duration {
        let stopwatch = Stopwatch::start();
        let deadline = tokio::time::sleep(limit).deadline();
        poll_fn(|cx| alarm.poll_at(deadline, cx)).await;
        stopwatch.elapsed()
    }

    #[tokio::test]
    async fn an_alarm_rings_at_its_newest_deadline_be_it_earlier_or_later_than_the_one_before() {
        const NEVER: Duration = Duration::from_hours(1);
        let alarm = Alarm::default();
        for limit in [30, 10, 60].map(Duration::from_millis) {
            // The limits of requests whose heads came in time.
            for before in [NEVER, limit / 2] {
                let _ = rings_after(&alarm, before).now_or_never();
            }
            let rang = rings_after(&alarm, limit).await;
            assert!(rang >= limit, "{rang:?} instead of {limit:?}");
            assert!(rang < NEVER, "{rang:?} instead of {limit:?}");
        }
    }
}
