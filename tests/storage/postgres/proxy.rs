//! A proxy to a database that loses answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// The messages that are lost. The connection is closed after a loss.
#[derive(Clone, Debug, Default)]
pub(super) enum Loses {
    #[default]
    Nothing,
    /// A request that contains these bytes, on its way to the server.
    Question(Vec<u8>),
    /// The answer to such a request, and every later answer.
    AnswersTo(Vec<u8>),
    /// The answer to any request.
    Answers,
}

type Loss = Mutex<Loses>;

/// A proxy to one server. It ends with the runtime.
pub(super) struct Proxy {
    port: u16,
    loss: Arc<Loss>,
}

impl Proxy {
    pub(super) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let loss = Arc::new(Loss::default());
        let losing = Arc::clone(&loss);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], server)));
                let server = server.await.unwrap();
                tokio::spawn(carry(client, server, Arc::clone(&losing)));
            }
        });
        Self { port, loss }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Starts to lose these messages.
    pub(super) fn lose(&self, what: Loses) {
        *self.loss.lock().unwrap() = what;
    }
}

/// Forwards both directions until one of them is closed.
async fn carry(client: TcpStream, server: TcpStream, losing: Arc<Loss>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = questions(from_client, to_server, &losing) => {}
        () = answers(from_server, to_client, &losing) => {}
    }
}

async fn questions(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, losing: &Loss) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let question = &buffer[..length];
        let has = |bytes: &[u8]| question.windows(bytes.len()).any(|part| part == bytes);
        let what = losing.lock().unwrap().clone();
        match what {
            Loses::Question(bytes) if has(&bytes) => return,
            Loses::AnswersTo(bytes) if has(&bytes) => *losing.lock().unwrap() = Loses::Answers,
            _ => {}
        }
        if to.write_all(question).await.is_err() {
            return;
        }
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, losing: &Loss) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let is_lost = matches!(*losing.lock().unwrap(), Loses::Answers);
        if is_lost || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
