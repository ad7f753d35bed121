//! A client that keeps to no rules: bytes out, bytes in.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Longer than any patience of the service.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection on which anything can be said.
#[derive(Debug)]
pub struct RawClient(TcpStream);

impl RawClient {
    /// Connects to `authority` (`HOST:PORT`).
    ///
    /// # Panics
    /// When nobody listens there.
    pub async fn connect(authority: &str) -> Self {
        Self(
            TcpStream::connect(authority)
                .await
                .expect("the service listens"),
        )
    }

    /// Sends bytes. A service that has closed the connection may do so.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Sends no more.
    pub async fn finish(&mut self) {
        let _ = self.0.shutdown().await;
    }

    /// Everything the service says until it closes the connection.
    ///
    /// # Panics
    /// When it never does.
    pub async fn read_to_end(mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.0.read_to_end(&mut bytes);
        // A connection that is reset has said what it had to say before.
        let _ = tokio::time::timeout(PATIENCE, read)
            .await
            .expect("the service closes the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The statuses of the answers in what a service said, in their order.
pub fn statuses(said: &str) -> Vec<u16> {
    let answers = said.split("HTTP/1.1 ").skip(1);
    answers
        .filter_map(|answer| answer.get(..3)?.parse().ok())
        .collect()
}
