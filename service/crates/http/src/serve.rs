//! Serves a router on a listener. The caller owns the socket and the shutdown.

mod connections;
mod listen;
#[cfg(test)]
mod tests;
mod watched;

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, Response, header};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};
use tower::ServiceExt as _;

use connections::{Connection, Connections};
pub use listen::listen;
use watched::{Answer, HeadTimer, Stream, Watched};

/// File descriptors that connections may not use: they are for the database, webhooks and backups.
const RESERVED: u64 = 32;
/// Pause between two accepted connections while descriptors run short, so that others can close.
const PAUSE: Duration = Duration::from_millis(10);
/// How long connections that were accepted during the shutdown have to send the first byte of a
/// request.
const LAST_REQUESTS: Duration = Duration::from_millis(100);

/// How long handshakes may still take that had begun when the listener closed: two round trips of a
/// slow phone.
const LAST_HANDSHAKES: Duration = Duration::from_secs(2);

/// Limits for the connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a request head may take, from its first byte.
    pub head: Duration,
    /// How long a connection may be idle. It must exceed the idle time of a load balancer (usually
    /// 60 s). Otherwise the balancer sends a request on a connection that is being closed.
    pub idle: Duration,
    /// How long open requests may continue after the listener closes.
    pub drain: Duration,
    /// Maximum number of open file descriptors of the process, if known. Shortly before this limit,
    /// the listener closes the connections that were idle longest.
    pub descriptors: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(15),
            idle: Duration::from_secs(75),
            drain: Duration::from_secs(10),
            descriptors: None,
        }
    }
}

/// The stages of a listener's shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// All requests are answered. `/ready` tells load balancers about the shutdown.
    Leaving,
    /// Only requests that have begun are answered.
    Closing,
}

/// The connection that a request came through. The listener adds it to each request; a request
/// without it is an in-process call. A clone refers to the same connection.
#[derive(Clone)]
pub struct Arrival(Arc<Arrived>);

struct Arrived {
    peer: SocketAddr,
    closing: Closing,
}

impl Arrival {
    fn new(peer: SocketAddr, closing: Closing) -> Self {
        Self(Arc::new(Arrived { peer, closing }))
    }

    /// The address at the other end of the connection.
    pub fn peer(&self) -> SocketAddr {
        self.0.peer
    }

    /// Whether the shutdown of the listener has begun.
    fn is_leaving(&self) -> bool {
        self.0.closing.is_leaving()
    }
}

/// The stage of the listener that received a request. An in-process call has none; its answer ends
/// when its caller drops it.
#[derive(Clone)]
pub(super) struct Closing(Option<watch::Receiver<Stage>>);

impl Closing {
    /// For a request that came through no listener.
    pub(super) const fn never() -> Self {
        Self(None)
    }

    /// Waits until the listener is closing. Endless answers must end then.
    pub(super) async fn begun(&mut self) {
        match &mut self.0 {
            // If the sender is gone, the listener has closed already.
            Some(stage) => drop(stage.wait_for(|stage| *stage == Stage::Closing).await),
            None => std::future::pending().await,
        }
    }

    /// Whether the shutdown of the listener has begun.
    pub(super) fn is_leaving(&self) -> bool {
        let stage = self.0.as_ref().map(|stage| *stage.borrow());
        stage.is_some_and(|stage| stage != Stage::Open)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Closing {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let arrival: Option<&Arrival> = parts.extensions.get();
        Ok(arrival.map_or(Self::never(), |arrival| arrival.0.closing.clone()))
    }
}

/// Serves `router` on `listener` until `shutdown`. `shutdown` returns the time that load balancers
/// need to notice: for that long `/ready` answers 503, everything else is answered as before, and
/// each answer ends its connection. Then idle connections are closed, and open requests may finish.
///
/// Connections use HTTP/1.1. An incomplete head ends its connection at a time limit, so slow
/// clients use no more than a socket.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = Duration> + Send,
) -> io::Result<()> {
    serve_over(listener, None, router, limits, shutdown).await
}

/// Like [`serve`], over TLS. A handshake has the same time limit as a head.
pub async fn serve_tls(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = Duration> + Send,
) -> io::Result<()> {
    serve_over(listener, Some(tls.into()), router, limits, shutdown).await
}

async fn serve_over(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = Duration> + Send,
) -> io::Result<()> {
    let (stage, closing) = watch::channel(Stage::Open);
    let server = Server {
        listener,
        tls,
        router,
        limits,
        closing: Closing(Some(closing)),
        connections: Arc::default(),
    };
    let notice = tokio::select! {
        notice = shutdown => notice,
        never = server.accept_all() => match never {},
    };
    stage.send_replace(Stage::Leaving);
    if !notice.is_zero() {
        // Accepting ends with the notice time.
        let _ = timeout(notice, server.accept_all()).await;
    }
    let Server {
        connections,
        listener,
        ..
    } = server.accept_waiting().await;
    drop(listener);
    stage.send_replace(Stage::Closing);
    connections.close_all();
    if timeout(limits.drain, connections.ended()).await.is_err() {
        tracing::warn!("some requests did not end in time");
    }
    Ok(())
}

struct Server {
    listener: TcpListener,
    /// `None` for a listener without TLS.
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    closing: Closing,
    connections: Arc<Connections>,
}

impl Server {
    async fn accept_all(&self) -> Infallible {
        loop {
            let accepted = self.listener.accept().await;
            let runs_short = match &accepted {
                Ok((stream, _)) => self.is_near_the_limit(stream),
                // Such a connection was closed by the client before it was accepted.
                Err(error) => error.kind() != ErrorKind::ConnectionAborted,
            };
            let makes_room = runs_short && self.connections.close_oldest_idle();
            match accepted {
                Ok((stream, peer)) => self.answer(stream, peer),
                Err(error) if !makes_room => {
                    // Open connections continue, and descriptors may become free again.
                    tracing::warn!("a connection could not be accepted: {error}");
                    sleep(5 * PAUSE).await;
                }
                Err(_) => {}
            }
            if makes_room {
                sleep(PAUSE).await;
            }
        }
    }

    /// Accepts the connections that the system holds already. Otherwise it would reset them.
    async fn accept_waiting(self) -> Self {
        let mut any = false;
        while let Some(Ok((stream, peer))) = self.listener.accept().now_or_never() {
            self.answer(stream, peer);
            any = true;
        }
        if any {
            sleep(LAST_REQUESTS).await;
        }
        self
    }

    /// Whether few descriptors are left. The system assigns the lowest free number, so a high one
    /// shows it.
    #[cfg(unix)]
    fn is_near_the_limit(&self, stream: &TcpStream) -> bool {
        use std::os::fd::AsRawFd as _;
        let number = u64::try_from(stream.as_raw_fd()).unwrap_or(0);
        // If there are few descriptors, reserve only a fraction of them.
        let of = |limit: u64| limit - RESERVED.min(limit / 4);
        self.limits
            .descriptors
            .is_some_and(|limit| number >= of(limit))
    }

    #[cfg(not(unix))]
    fn is_near_the_limit(&self, _: &TcpStream) -> bool {
        false
    }

    /// Answers the requests of a connection in a separate task.
    fn answer(&self, stream: TcpStream, peer: SocketAddr) {
        // Answers are written in one piece, so waiting for more data only delays them.
        let _ = stream.set_nodelay(true);
        let conversation = Conversation {
            connection: self.connections.open(),
            arrival: Arrival::new(peer, self.closing.clone()),
            router: self.router.clone(),
            limits: self.limits,
        };
        match &self.tls {
            None => drop(tokio::spawn(conversation.hold(stream))),
            Some(tls) => {
                let handshake = tls.accept(stream);
                tokio::spawn(async move {
                    if let Some(stream) = conversation.encrypted(handshake).await {
                        conversation.hold(stream).await;
                    }
                });
            }
        }
    }
}

/// The requests of one connection, and their answers.
struct Conversation {
    connection: Connection,
    arrival: Arrival,
    router: Router,
    limits: Limits,
}

impl Conversation {
    /// The connection after its handshake; `None` if it fails, or does not end in time. A connection
    /// that has sent no request yet is closed if descriptors run short.
    async fn encrypted(&self, handshake: Accept<TcpStream>) -> Option<TlsStream<TcpStream>> {
        let activity = &self.connection.activity;
        let mut handshake = pin!(timeout(self.limits.head, handshake));
        let ended = tokio::select! {
            ended = handshake.as_mut() => ended,
            () = activity.asked_to_close() => {
                if !self.arrival.is_leaving() {
                    return None;
                }
                let last = timeout(LAST_HANDSHAKES, handshake.as_mut()).await;
                last.unwrap_or_else(Err)
            }
        };
        match ended {
            Ok(Ok(stream)) => {
                if activity.was_asked_to_close() {
                    let _ = timeout(LAST_REQUESTS, stream.socket().readable()).await;
                    activity.ask_to_close();
                }
                Some(stream)
            }
            Ok(Err(error)) => {
                tracing::debug!("a handshake failed: {error}");
                None
            }
            Err(_) => None,
        }
    }

    /// Answers the requests of the connection until it ends.
    async fn hold(self, stream: impl Stream) {
        let Self {
            connection,
            arrival,
            router,
            limits,
        } = self;
        let activity = Arc::clone(&connection.activity);
        let service = service_fn({
            let activity = Arc::clone(&activity);
            move |mut request: Request<Incoming>| {
                let busy = activity.busy();
                let (router, arrival) = (router.clone(), arrival.clone());
                // One extension for all of it: each is allocated, and a fourth one moves the others.
                request.extensions_mut().insert(arrival.clone());
                async move {
                    let mut answer = router.oneshot(request.map(Body::new)).await?;
                    if arrival.is_leaving() {
                        let close = HeaderValue::from_static("close");
                        answer.headers_mut().insert(header::CONNECTION, close);
                    }
                    let held = |body| Answer { body, _busy: busy };
                    Ok::<Response<Answer>, Infallible>(answer.map(held))
                }
            }
        });
        let mut http = http1::Builder::new();
        http.timer(HeadTimer::new(Arc::clone(&activity), limits.head))
            .header_read_timeout(limits.idle)
            // A client that sends no more can still read. The service completes its request, so it
            // must get the answer.
            .half_close(true)
            .max_headers(64);
        let stream = Watched { stream, activity };
        let answering = http.serve_connection(TokioIo::new(stream), service);
        let mut answering = pin!(answering);
        let ended = loop {
            tokio::select! {
                // Poll the connection first: bytes that have arrived already are a request and
                // must be answered.
                biased;
                ended = answering.as_mut() => break ended,
                () = connection.activity.asked_to_close() => {
                    // It may have been polled just before it was asked. Only this poll looks
                    // for a request that the runtime does not know of yet.
                    if let Some(ended) = answering.as_mut().now_or_never() {
                        break ended;
                    }
                    if !connection.activity.has_begun() {
                        answering.as_mut().graceful_shutdown();
                    }
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!("a connection ended early: {error}");
        }
    }
}
