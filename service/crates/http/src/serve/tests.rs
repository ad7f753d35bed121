//! Tests a listener whose runtime had no time for its connections.

use std::future::pending;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

use super::{Limits, serve};

/// More connections than are kept open when descriptors run short.
const CONNECTIONS: usize = 40;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn a_request_that_has_arrived_is_answered_though_descriptors_run_short() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // All of them connect before the runtime polls its sockets for the first time.
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(REQUEST).unwrap();
            client
        })
        .collect();
    let limits = Limits {
        descriptors: Some(0),
        ..Limits::default()
    };
    let router = Router::new().route("/", get(async || "here"));
    tokio::spawn(serve(listener, router, limits, pending::<Duration>()));
    let answers = tokio::task::spawn_blocking(move || {
        let answer = |mut client: TcpStream| {
            let mut answer = String::new();
            client.read_to_string(&mut answer).map(|_| answer)
        };
        clients.into_iter().map(answer).collect::<Vec<_>>()
    });
    for answer in answers.await.unwrap() {
        let answer = answer.expect("no connection is reset");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
    }
}
