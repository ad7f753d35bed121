//! A listener for a router. The caller owns the socket and the shutdown.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::Request;
use axum::http::request::Parts;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::origin::Peer;

/// How long a client may take to send a request's head.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long open requests have to end after the shutdown began.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Tells an answer without an end that the listener it goes through is closing.
/// Put into each request by the listener; a request without one was made
/// in-process, and its answer ends with its caller.
#[derive(Clone)]
pub(super) struct Closing(Option<watch::Receiver<()>>);

impl Closing {
    /// Of a request that no listener brought.
    pub(super) const fn never() -> Self {
        Self(None)
    }

    /// Waits until the listener is closing.
    pub(super) async fn begun(&mut self) {
        match &mut self.0 {
            // Nothing is ever sent: the end of the sender is the message.
            Some(open) => while open.changed().await.is_ok() {},
            None => std::future::pending().await,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Closing {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self::never()))
    }
}

/// Serves `router` on `listener` until `shutdown`, then lets open requests end.
///
/// Connections are HTTP/1.1. A head that does not come ends its connection, so
/// slow clients hold no more than a socket.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        // A client that sends no more still reads: what it asked for is done,
        // and it is told so.
        .half_close(true)
        .max_headers(64);
    let (open, is_open) = watch::channel(());
    let closing = Closing(Some(is_open));
    tokio::pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, or a connection that went away: what
                    // is open goes on, and room may come back.
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        // Answers are written whole; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let closing = closing.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request.extensions_mut().insert(closing.clone());
            let router = router.clone();
            async move { router.oneshot(request.map(Body::new)).await }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended early: {error}");
            }
        });
    }
    drop((listener, open));
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(DRAIN_TIME) => tracing::warn!("some requests did not end in time"),
    }
    Ok(())
}
