//! Clients that violate HTTP, or that are too slow.

use std::time::Duration;

use tapdesk_service::Limits;
use tapdesk_tests::client::base64;
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Answering as _, RawClient, TestService, length};

use crate::bad_input::unchanged::Unchanged;

/// The service's response to these bytes, until it closes the connection.
async fn said_to(service: &Unchanged, bytes: impl AsRef<[u8]>) -> String {
    let mut client = RawClient::connect(service.authority()).await;
    client.send(bytes).await;
    client.read_to_end().await
}

#[tokio::test]
async fn what_is_not_http_is_400_or_a_closed_connection() {
    let service = Unchanged::start().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x00\x00\x00\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
    ] {
        let said = said_to(&service, bytes).await;
        assert!(
            matches!(statuses(&said)[..], [] | [400]),
            "{bytes:?}: {said}"
        );
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn too_many_headers_or_a_head_too_large_is_431() {
    let service = Unchanged::start().await;
    for headers in [
        "x: y\r\n".repeat(1_000),
        format!("x: {}\r\n", "y".repeat(1_000_000)),
    ] {
        let said = said_to(&service, format!("GET /health HTTP/1.1\r\n{headers}\r\n")).await;
        assert!(matches!(statuses(&said)[..], [] | [431]), "{said}");
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn garbage_pipelined_behind_a_request_is_an_error_of_its_own() {
    let service = Unchanged::start().await;
    let said = said_to(
        &service,
        "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n\u{1}\u{2}garbage\r\n\r\n",
    )
    .await;
    assert_eq!(statuses(&said), [200, 400], "{said}");
    service.assert_unchanged().await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let service = Unchanged::start().await;
    let get =
        |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{more}\r\n");
    let requests = [
        get("/health", ""),
        get("/t/nobody-knows", ""),
        get("/v2/interactions/rk_payload?rk=x", "connection: close\r\n"),
    ];
    let said = said_to(&service, requests.concat()).await;
    assert_eq!(statuses(&said), [200, 404, 200], "{said}");
    service.assert_unchanged().await;
}

/// `shutdown(SHUT_WR)` after the request, as `nc -N` and small devices do: the client still reads.
#[tokio::test]
async fn a_client_that_sends_no_more_is_answered() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    for count in [1, 3] {
        let tap = |_| {
            let path = inlay.url(&tag);
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: a\r\n\r\n")
        };
        let taps: Vec<_> = (0..count).map(tap).collect();
        let mut client = RawClient::connect(service.authority()).await;
        client.send(taps.concat()).await;
        client.finish().await;
        let said = client.read_to_end().await;
        assert_eq!(statuses(&said), vec![302; count], "{said}");
        assert_eq!(said.matches("rk=").count(), count, "{said}");
    }
    assert_eq!(service.taps("verified").await, 4, "each once");
}

fn update_head(length: usize) -> String {
    format!(
        "POST /v2/interactions/data HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn a_body_that_ends_early_updates_nothing() {
    let service = Unchanged::start().await;
    let body = format!(
        r#"{{"rolling_key": "{}", "data": {{"registered": "true"}}}}"#,
        base64(&"A".repeat(44))
    );
    let mut client = RawClient::connect(service.authority()).await;
    client.send(update_head(body.len() + 1)).await;
    client.send(&body).await;
    client.finish().await;
    let said = client.read_to_end().await;
    assert!(matches!(statuses(&said)[..], [] | [400]), "{said}");
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_chunked_body_without_end_is_413() {
    let service = Unchanged::start().await;
    let mut client = RawClient::connect(service.authority()).await;
    client
        .send(
            "POST /v2/interactions/data HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .await;
    for _ in 0..80 {
        client
            .send(format!("400\r\n{}\r\n", " ".repeat(1024)))
            .await;
    }
    let said = client.read_to_end().await;
    assert_eq!(statuses(&said), [413], "{said}");
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_compressed_body_is_not_unpacked() {
    let service = Unchanged::start().await;
    let request = service
        .post("/v2/interactions/data")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec());
    assert_eq!(request.answer().await.status, 400);
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_its_connection() {
    let service = Unchanged::start().await;
    let said = said_to(&service, "GET /health HTTP/1.1\r\nhost: loc").await;
    assert!(matches!(statuses(&said)[..], [] | [408]), "{said}");
    service.assert_unchanged().await;
}

/// A request that keeps its connection; the other constant is the end of its response.
const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const HEALTHY: &str = r#"{"status":"ok"}"#;

/// A service with limits for a request's head and for idle connections, in milliseconds.
async fn with_limits(head: u64, idle: u64) -> TestService {
    TestService::start_with(|options| {
        options.limits = Limits {
            head: Duration::from_millis(head),
            idle: Duration::from_millis(idle),
            ..Limits::default()
        };
    })
    .await
}

#[test]
fn a_head_has_15_seconds_and_a_connection_may_be_idle_for_longer_than_balancers_keep_theirs() {
    let limits = Limits::default();
    assert_eq!(limits.head.as_secs(), 15);
    assert!(limits.idle.as_secs() >= 75);
}

/// The time limit of a head begins with its first byte, and neither at the connection's start nor
/// after the last response.
#[tokio::test]
async fn a_connection_may_be_idle_for_longer_than_a_head_may_take() {
    let service = with_limits(300, 60_000).await;
    let mut new = RawClient::connect(service.authority()).await;
    let mut used = RawClient::connect(service.authority()).await;
    used.send(HEALTH).await;
    used.read_until(HEALTHY).await;
    // Two incomplete heads, one after the other, take longer together than one head may.
    for beginning in ["G", "GET /health HTTP/1.1\r\nhost: loc"] {
        let mut slow = RawClient::connect(service.authority()).await;
        slow.send(beginning).await;
        assert!(matches!(
            statuses(&slow.read_to_end().await)[..],
            [] | [408]
        ));
    }
    for client in [&mut new, &mut used] {
        client.send(HEALTH).await;
        let said = client.read_until(HEALTHY).await;
        assert_eq!(statuses(&said), [200], "{said}");
    }
}

#[tokio::test]
async fn a_head_on_a_used_connection_has_its_limit_too_and_bytes_do_not_extend_it() {
    let service = with_limits(300, 60_000).await;
    let mut client = RawClient::connect(service.authority()).await;
    client.send(HEALTH).await;
    client.read_until(HEALTHY).await;
    client.send("GET /health HTTP/1.1\r\nx: ").await;
    let (mut sending, ended) = client.split();
    let ended = tokio::spawn(ended);
    while !ended.is_finished() {
        sending.send("y").await;
        // A client that is slow on purpose.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let said = ended.await.expect("it reads");
    assert!(matches!(statuses(&said)[..], [] | [408]), "{said}");
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_time_and_a_head_that_has_begun_is_not_idle() {
    // Far longer than a busy test waits between a connection and its request.
    let service = with_limits(60_000, 2_000).await;
    let mut slow = RawClient::connect(service.authority()).await;
    let (beginning, rest) = HEALTH.split_at(20);
    slow.send(beginning).await;
    for before in [HEALTH, ""] {
        let mut idle = RawClient::connect(service.authority()).await;
        idle.send(before).await;
        let said = idle.read_to_end().await;
        assert_eq!(statuses(&said).len(), before.len().min(1), "{said}");
    }
    slow.send(rest).await;
    let said = slow.read_until(HEALTHY).await;
    assert_eq!(statuses(&said), [200], "{said}");
}

#[tokio::test]
async fn an_answer_that_takes_longer_than_a_connection_may_be_idle_is_sent_to_its_end() {
    // Far longer than a busy test waits between a connection and its request.
    let service = with_limits(60_000, 2_000).await;
    let (tag, _) = service.bottle().await;
    let mut events = RawClient::connect(service.authority()).await;
    let head = format!(
        "GET /admin/v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        service.admin_token()
    );
    events.send(head).await;
    events.read_until("\r\n\r\n").await;
    let idle = RawClient::connect(service.authority()).await;
    assert_eq!(idle.read_to_end().await, "");
    // The connections of the first client were idle, too, and are being closed.
    service.another().tap(&tag.path()).await;
    let said = events.read_until("data:").await;
    assert!(said.contains("data:"), "it goes on: {said}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408_in_the_envelope() {
    let service = Unchanged::start().await;
    let said = said_to(&service, format!("{}{{", update_head(100))).await;
    assert_eq!(statuses(&said), [408], "{said}");
    assert!(said.contains(r#"{"error": true, "#), "{said}");
    service.assert_unchanged().await;
}

#[tokio::test]
async fn slow_clients_keep_nobody_else_waiting() {
    let service = Unchanged::start().await;
    let mut slow = Vec::new();
    for i in 0..length(200, 2_000) {
        let mut client = RawClient::connect(service.authority()).await;
        if i % 2 == 0 {
            client.send("GET /t/slow HTTP/1.1\r\nho").await;
        } else {
            client.send(update_head(60_000)).await;
        }
        slow.push(client);
    }
    assert_eq!(service.get("/health").answer().await.status, 200);
    drop(slow);
    service.assert_unchanged().await;
}
