//! A client without rules: it sends and receives bytes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use crate::PATIENCE;

/// A connection that can send anything.
#[derive(Debug)]
pub struct RawClient(TcpStream);

/// The sending direction of a connection.
#[derive(Debug)]
pub struct Sending(OwnedWriteHalf);

impl Sending {
    /// Sends bytes. A service that has closed the connection may do so.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.0.write_all(bytes.as_ref()).await;
    }
}

impl RawClient {
    /// Connects to `authority` (`HOST:PORT`).
    ///
    /// # Panics
    /// When no server listens there.
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

    /// The service's output up to `last`, or less if it closes the connection before.
    ///
    /// # Panics
    ///
    /// When it does neither.
    pub async fn read_until(&mut self, last: &str) -> String {
        let mut said = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let read = tokio::time::timeout(PATIENCE, self.0.read(&mut bytes));
            let count = read.await.expect("the service answers").unwrap_or(0);
            said.extend_from_slice(&bytes[..count]);
            let text = String::from_utf8_lossy(&said);
            if count == 0 || text.contains(last) {
                return text.into_owned();
            }
        }
    }

    /// Its two directions: one that sends, and the complete output of the service.
    pub fn split(self) -> (Sending, impl Future<Output = String> + Send) {
        let (read, write) = self.0.into_split();
        let said = async move {
            let mut read = read;
            let mut bytes = Vec::new();
            let _ = tokio::time::timeout(PATIENCE, read.read_to_end(&mut bytes))
                .await
                .expect("the service closes the connection");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        (Sending(write), said)
    }

    /// Closes the sending direction.
    pub async fn finish(&mut self) {
        let _ = self.0.shutdown().await;
    }

    /// The service's complete output until it closes the connection.
    ///
    /// # Panics
    /// When it never does.
    pub async fn read_to_end(mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.0.read_to_end(&mut bytes);
        // A reset connection has delivered its output before.
        let _ = tokio::time::timeout(PATIENCE, read)
            .await
            .expect("the service closes the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The status codes of the responses in a service's output, in order.
pub fn statuses(said: &str) -> Vec<u16> {
    let answers = said.split("HTTP/1.1 ").skip(1);
    answers
        .filter_map(|answer| answer.get(..3)?.parse().ok())
        .collect()
}
