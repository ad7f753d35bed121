//! One keep-alive connection, with minimal work by the client.

use std::net::SocketAddr;

use anyhow::{Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Largest response, in bytes.
const ANSWER_MAX: usize = 16 * 1024;

/// A connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A complete response in the connection's buffer.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    headers: &'a [httparse::Header<'a>],
    pub(crate) body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// Header names in lower case, with their values.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (String, &'a str)> {
        self.headers.iter().map(|header| {
            let value = std::str::from_utf8(header.value).unwrap_or_default();
            (header.name.to_ascii_lowercase(), value)
        })
    }

    /// The value of a header, as it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&'a [u8]> {
        let mut headers = self.headers.iter();
        let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(header.value)
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; ANSWER_MAX],
        })
    }

    /// Sends a request, and passes its complete response to `read`.
    pub(crate) async fn exchange<T>(
        &mut self,
        request: &[u8],
        read: impl FnOnce(&Answer<'_>) -> Result<T>,
    ) -> Result<T> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        loop {
            let received = self.stream.read(&mut self.buffer[filled..]).await?;
            ensure!(received > 0, "the server ended the connection");
            filled += received;
            let mut headers = [httparse::EMPTY_HEADER; 32];
            let mut head = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(length) = head.parse(&self.buffer[..filled])? else {
                continue;
            };
            let mut answer = Answer {
                status: head.code.unwrap_or_default(),
                headers: head.headers,
                body: &self.buffer[length..filled],
            };
            let Some(expected) = answer.header("content-length") else {
                bail!("an answer without a length: status {}", answer.status);
            };
            let expected: usize = std::str::from_utf8(expected)?.parse()?;
            if answer.body.len() < expected {
                continue;
            }
            answer.body = &answer.body[..expected];
            return read(&answer);
        }
    }
}
