//! A server of buckets, in Python: moto. And a line to it that can be cut.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::{Method, RequestBuilder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, JoinSet};

use crate::process::Launch;
use crate::{Answer, Answering as _, Client, eventually, free_port};

/// The name of the access key. A server accepts any, until [`Moto::refuse_keys`].
pub const ACCESS_KEY: &str = "AKIATAPDESK";
/// The secret of the access key, which must be in no log.
pub const SECRET: &str = "a-secret-that-is-in-no-log";

/// A running server with the bucket `backups`. Dropping it kills it.
#[derive(Debug)]
pub struct Moto {
    /// The port of the server, on the loopback address.
    pub port: u16,
    client: Client,
    _child: Child,
}

impl Moto {
    /// Starts it and creates the bucket.
    ///
    /// # Panics
    /// When it is not installed.
    pub async fn start() -> Self {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = tests.parent().expect("the tests are in a folder");
        let port = free_port();
        let command = root.join("target/venv/bin/moto_server");
        let child = Command::new(&command)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; see .make/setup", command.display()));
        eventually("moto listens", async || {
            TcpStream::connect(("127.0.0.1", port)).await.ok()
        })
        .await;
        let moto = Self {
            port,
            client: Client::new(format!("http://127.0.0.1:{port}"), ""),
            _child: child,
        };
        done(&moto.request(Method::PUT, "backups").answer().await);
        moto
    }

    /// A request whose signature moto does not check. Without one it is of a stranger.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/{path}", self.client.base());
        let request = self.client.request(method, &url);
        request.header("authorization", "AWS test:unsigned")
    }

    /// The content of an object.
    ///
    /// # Panics
    /// When there is none.
    pub async fn read(&self, path: &str) -> Vec<u8> {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.bytes().await.unwrap().to_vec()
    }

    /// Replaces the content of an object.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn write(&self, path: &str, content: Vec<u8>) {
        let put = self.request(Method::PUT, path).body(content);
        done(&put.answer().await);
    }

    /// The names of all objects.
    pub async fn names(&self) -> Vec<String> {
        let listed = self.request(Method::GET, "backups?list-type=2");
        let body = listed.answer().await.body;
        let keys = body.split("<Key>").skip(1);
        let names = keys.filter_map(|rest| rest.split("</Key>").next());
        names.map(ToOwned::to_owned).collect()
    }

    /// Accepts only keys that it knows from now on, and it knows none.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn refuse_keys(&self) {
        let reset = self.request(Method::POST, "moto-api/reset-auth").body("0");
        done(&reset.answer().await);
    }
}

#[track_caller]
fn done(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The variables of a service or command for the server at `port`.
pub fn variables(port: u16) -> [(String, String); 3] {
    [
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// A launch whose buckets are on the server at `port`.
pub fn with_buckets(launch: Launch, port: u16) -> Launch {
    variables(port)
        .iter()
        .fold(launch, |launch, (name, value)| launch.env(name, value))
}

/// A line from `port` to the server at `to`. After `bytes` bytes all connections are closed, and
/// nothing listens any more: then the task ends.
///
/// # Panics
/// When the port is taken.
pub async fn line(port: u16, to: u16, bytes: usize) -> JoinHandle<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let left = Arc::new(AtomicUsize::new(bytes));
    tokio::spawn(async move {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (client, _) = accepted.unwrap();
                    open.spawn(pass(client, to, Arc::clone(&left)));
                }
                Some(ended) = open.join_next() => {
                    if ended.unwrap() {
                        return;
                    }
                }
            }
        }
    })
}

/// Passes a connection on. Returns whether no bytes are left.
async fn pass(mut client: TcpStream, to: u16, left: Arc<AtomicUsize>) -> bool {
    let mut server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = async {
        let mut piece = vec![0; 4_096];
        loop {
            let read = from_client.read(&mut piece).await.unwrap_or(0);
            if read == 0 {
                return false;
            }
            let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(read)
            });
            if taken.is_err() {
                return true;
            }
            if to_server.write_all(&piece[..read]).await.is_err() {
                return false;
            }
        }
    };
    tokio::select! {
        is_cut = up => is_cut,
        _ = copy(&mut from_server, &mut to_client) => false,
    }
}
