//! The notice of a newer version, from a server that the owner configured.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use tapdesk::release::ReleaseSource;
use tapdesk::shell::Shell;
use tapdesk_service::clock::{Millis, Timestamp};
use tokio::net::TcpListener;

use crate::installation::{Installation, ready};

/// The public key of the signatures below, which minisign made. The secret key is gone.
const KEY: &str = "RWSJHjJFIzTzuOBjOAXcIECWZG6nfUE7r0pnDT4hBKMBRxwxCEeivgVX";

/// A release that is newer than any, and its signature.
const NEWER: (&str, &str) = (
    r#"{"version": "999.0.0", "url": "https://tapdesk.example/999", "notes": "Faster.\nNew chips."}"#,
    "untrusted comment: signature from minisign secret key\nRUSJHjJFIzTzuLpIxq4KvZPGz6YTwbXOzfbY4Kvodcj0XneSB4yoaOpUqNh5Ulpws36dqh5rxRDwxelYQ3dGYa+uBiO4sId6rws=\ntrusted comment: tapdesk\ns/UNeTJgla5d/iizRDA0avngSM/sbJ8QwM6M0xYgudqEzm8YmmQvSDYSQuhvS5irgZDtjmZ5leKFPhp2nti0Aw==",
);

/// One that is older.
const OLDER: (&str, &str) = (
    r#"{"version": "0.0.1", "url": "https://tapdesk.example/1", "notes": ""}"#,
    "untrusted comment: signature from minisign secret key\nRUSJHjJFIzTzuKB/RBcDJci5ePEaaGW+5idjn21/uBcbkN5fZV9wA71ICugT01l11az/PuoaINx2+/qP/Iw+k8EdigAn4LtsFgU=\ntrusted comment: tapdesk\nLWl66YoJA/PMRT0MbBfPEGSO0r10fpZX3YKOxJIhCHApOw/HRnDfAIoSLwzrH7GRzdspZvN1uTOZn5mht/V8CQ==",
);

/// One whose version is none.
const NO_VERSION: (&str, &str) = (
    r#"{"version": "newest", "url": "https://tapdesk.example/1", "notes": ""}"#,
    "untrusted comment: signature from minisign secret key\nRUSJHjJFIzTzuF3DRE8OL6CSmGpXMFzLEZdAfJ8LBpx6XeLECzTQ+tLNofp3y7bXhb/cOe/G/bqgP3a7gXce7Lt0lt+OTjZQnw8=\ntrusted comment: tapdesk\nPQzEu3hZH8JZLe+YMaDxID9THa+/tGDEd2TqxihxHOzlaZlj4qanbJpAPhdgFHvzaBect6oa3Crd7QnGOuj7Dw==",
);

/// One that leads to a file of this computer.
const NO_PAGE: (&str, &str) = (
    r#"{"version": "999.0.0", "url": "file:///etc/passwd", "notes": ""}"#,
    "untrusted comment: signature from minisign secret key\nRUSJHjJFIzTzuLXx9DlTJA8aA2V9aeWBFHKeerOyXZ1gw1E1bHJ/N2UOm/g7yMvDHZMgCOUhxq5Lp0tdaZh1oCBqVzTq9IQhhg8=\ntrusted comment: tapdesk\nLOZti6lkzaUAh4inFR2qxW2Ffs9ov5HPd/x64tnwvSVGqx6rJw3P14G/gvBXDL5RPHAuOGGe8QSPBKWH2kv7Bw==",
);

/// The signature of [`NEWER`] by another key.
const BY_ANOTHER: &str = "untrusted comment: signature from minisign secret key\nRURoPSR8Xen/aUgEDTivNv9ZWkETpl7PYXJMBoXfS6u2mBhVqrSWtFJ3YVrjYIrPyYKFbEJOoDwr/OgJIeFMy7m9B+TAzxux6wY=\ntrusted comment: tapdesk\n1YOCja4jtqy747Ozk8HfkfrkBxKXKVb2k44Nj7Id5Fxw7esW2M6VVi7sEDzvpjVO5ir0ORXcvOwyKNJVq5Z8AQ==";

/// The paths and the names of the headers of all requests.
type Seen = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// A server that answers each path in another way.
async fn server() -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let routes = Router::new().fallback(answer).with_state(Arc::clone(&seen));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (base, seen)
}

async fn answer(State(seen): State<Seen>, request: Request) -> Response {
    let path = request.uri().to_string();
    let names = request.headers().keys().map(ToString::to_string);
    seen.lock().unwrap().push((path.clone(), names.collect()));
    let (file, signature) = match path.trim_end_matches(".minisig") {
        "/older" => OLDER,
        "/no-version" => NO_VERSION,
        "/no-page" => NO_PAGE,
        "/by-another" => (NEWER.0, BY_ANOTHER),
        "/of-another" => (NEWER.0, OLDER.1),
        "/no-signature" => (NEWER.0, "untrusted"),
        "/endless" => return endless(),
        "/endless-signature" if path.ends_with(".minisig") => return endless(),
        "/newer" | "/endless-signature" => NEWER,
        path if path.starts_with("/moved/") => {
            let to = path.trim_start_matches("/moved/");
            let location = format!("http://{to}/newer");
            return (StatusCode::FOUND, [(header::LOCATION, location)]).into_response();
        }
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let is_signature = path.ends_with(".minisig");
    let text = if is_signature { signature } else { file };
    text.into_response()
}

fn endless() -> Response {
    let piece = Bytes::from_static(&[b' '; 4_096]);
    Body::from_stream(stream::repeat(Ok::<_, Infallible>(piece))).into_response()
}

fn source(url: &str) -> ReleaseSource {
    ReleaseSource::parse(url, KEY).unwrap()
}

/// A moment of some day.
fn day(number: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).plus(Millis::days(number))
}

fn newer(shell: &Shell) -> Option<String> {
    ready(shell).releases.found.map(|release| release.version)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_newer_version_that_is_signed_with_the_owners_key_is_shown() {
    let (base, _) = server().await;
    let (elsewhere, of_elsewhere) = server().await;
    let moved = format!("/moved/{}", elsewhere.trim_start_matches("http://"));
    let installation = Installation::new();
    let shell = installation.ready().await;
    for (path, found, problem) in [
        ("/newer", true, ""),
        ("/older", false, ""),
        ("/no-version", false, "newest in the file is not a version"),
        ("/no-page", false, "is not an https URL"),
        ("/by-another", false, "was not signed with your key"),
        ("/of-another", false, "was not signed with your key"),
        ("/no-signature", false, "is not one of minisign"),
        ("/endless", false, "is larger than 64 kB"),
        ("/endless-signature", false, "is larger than 64 kB"),
        (moved.as_str(), false, "leads to another address"),
        ("/nothing", false, "answered 404"),
    ] {
        let url = format!("{base}{path}");
        shell
            .choose_release_source(Some(source(&url)), day(0))
            .await;
        let releases = ready(&shell).releases;
        assert_eq!(releases.looked_at, Some(day(0)), "{path}");
        assert_eq!(releases.found.is_some(), found, "{path}: {releases:?}");
        let said = releases.problem.unwrap_or_default();
        assert_eq!(said.is_empty(), problem.is_empty(), "{path}: {said}");
        assert!(said.contains(problem), "{path}: {said}");
    }
    assert!(of_elsewhere.lock().unwrap().is_empty());
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_looks_once_a_day_where_the_owner_said_and_says_nothing_of_itself() {
    let (base, seen) = server().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    shell.look_if_due(day(0)).await;
    shell.look_for_release(day(0)).await;
    assert_eq!(ready(&shell).releases.looked_at, None, "there is no source");

    let url = format!("{base}/newer");
    shell
        .choose_release_source(Some(source(&url)), day(0))
        .await;
    let first = seen.lock().unwrap().clone();
    let paths: Vec<_> = first.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/newer", "/newer.minisig"]);
    for (path, names) in &first {
        let known = ["accept", "host"];
        assert!(
            names.iter().all(|name| known.contains(&name.as_str())),
            "{path} {names:?}"
        );
    }
    let later = day(1).minus(Millis::seconds(1));
    shell.look_if_due(later).await;
    assert_eq!(seen.lock().unwrap().len(), 2);
    shell.stop().await;

    // A start is no reason to look, and shows the former result.
    let again = installation.ready().await;
    again.look_if_due(later).await;
    assert_eq!(newer(&again).as_deref(), Some("999.0.0"));
    assert_eq!(seen.lock().unwrap().len(), 2);
    again.look_if_due(day(1)).await;
    assert_eq!(seen.lock().unwrap().len(), 4);

    // Without an address it forgets all.
    again.choose_release_source(None, day(1)).await;
    assert_eq!(newer(&again), None);
    again.look_if_due(day(9)).await;
    assert_eq!(seen.lock().unwrap().len(), 4);
    again.stop().await;
}
