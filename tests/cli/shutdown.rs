//! SIGTERM and SIGHUP: acknowledged data is stored, and the exit status is 0.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use tapdesk_tests::client::TryAnswering as _;
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Answering as _, Launch, RawClient, eventually};

use super::launch;

/// Starts with SIGHUP as it usually is: whoever started the tests by nohup passed on to them that it
/// is ignored.
fn with_sighup(mut launch: Launch) -> Launch {
    let as_usual = ["env", "--default-signal=HUP"].map(str::to_owned);
    launch.command.splice(0..0, as_usual);
    launch
}

#[tokio::test]
async fn sigterm_under_load_loses_no_acknowledged_tap_and_exits_0() {
    let launch = launch();
    let mut service = launch.start().await;
    let tag = service.redirecting_tag(serde_json::Value::Null).await;
    let acknowledged = Arc::new(AtomicU64::new(0));
    let visitors: Vec<_> = (0..8)
        .map(|_| {
            let (visitor, path) = (service.another(), tag.path());
            let acknowledged = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                while let Ok(answer) = visitor.get(&path).try_answer().await {
                    assert_eq!(answer.status, 302, "{}", answer.body);
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    eventually("the load runs", || {
        let taps = acknowledged.load(Ordering::SeqCst);
        async move { (taps > 100).then_some(()) }
    })
    .await;
    service.send_sigterm();
    assert_eq!(service.ended().await.code(), Some(0), "{}", launch.log());
    for visitor in visitors {
        visitor
            .await
            .expect("every answer before the end was a good one");
    }
    drop(service);

    let log = std::fs::read_dir(launch.folder.path()).unwrap();
    let left: Vec<_> = log.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name == "tapdesk.db-wal"),
        "{left:?}"
    );
    let service = launch.start().await;
    let recorded = service.scan_count(&tag).await;
    assert!(
        recorded >= acknowledged.load(Ordering::SeqCst),
        "{recorded}"
    );
}

#[tokio::test]
async fn a_listener_to_events_does_not_hold_up_the_end() {
    let service = launch().start().await;
    let events = service
        .admin_request(Method::GET, "/events")
        .send()
        .await
        .unwrap();
    assert_eq!(service.terminate().await.code(), Some(0));
    drop(events);
}

/// A request that keeps its connection; the other constant is the end of its response.
const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const HEALTHY: &str = r#"{"status":"ok"}"#;
/// Longer than any test.
const FOR_LONG: (&str, &str) = ("TAPDESK_SHUTDOWN_DELAY", "600");

#[tokio::test]
async fn after_sigterm_or_sighup_ready_is_503_and_everything_is_answered_until_the_delay_is_over() {
    for signal in ["TERM", "HUP"] {
        let (name, value) = FOR_LONG;
        let service = with_sighup(launch()).env(name, value).start().await;
        let tag = service.redirecting_tag(serde_json::Value::Null).await;
        let mut idle = RawClient::connect(service.authority()).await;
        idle.send(HEALTH).await;
        let said = idle.read_until(HEALTHY).await;
        assert!(!said.contains("connection: close"), "{said}");
        let events = service.admin_request(Method::GET, "/events").send().await;
        let mut events = events.unwrap();
        service.send(signal);
        let answer = eventually("it is not ready", async || {
            let answer = service.get("/ready").answer().await;
            (answer.status == 503).then_some(answer)
        })
        .await;
        assert_eq!(answer.json()["status"], "not ready");
        assert_eq!(answer.header("connection"), Some("close"));
        // Both open and new connections are still served.
        for _ in 0..3 {
            assert_eq!(service.another().tap(&tag.path()).await.status, 302);
        }
        assert!(events.chunk().await.unwrap().is_some(), "they go on");
        idle.send(HEALTH).await;
        let said = idle.read_to_end().await;
        assert_eq!(statuses(&said), [200]);
        assert!(said.contains("connection: close"), "{said}");
    }
}

#[tokio::test]
async fn after_the_delay_idle_connections_are_closed_and_the_exit_status_is_0() {
    for signal in ["TERM", "HUP"] {
        let launch = with_sighup(launch()).env("TAPDESK_SHUTDOWN_DELAY", "1");
        let mut service = launch.start().await;
        let mut idle = RawClient::connect(service.authority()).await;
        idle.send(HEALTH).await;
        idle.read_until(HEALTHY).await;
        service.send(signal);
        assert_eq!(idle.read_to_end().await, "");
        assert_eq!(service.ended().await.code(), Some(0), "{}", launch.log());
    }
}

#[tokio::test]
async fn a_request_whose_head_has_begun_is_answered_at_the_end() {
    let service = launch().start().await;
    let mut client = RawClient::connect(service.authority()).await;
    client.send(HEALTH).await;
    client.read_until(HEALTHY).await;
    let (beginning, rest) = HEALTH.split_at(20);
    client.send(beginning).await;
    let mut idle = RawClient::connect(service.authority()).await;
    idle.send(HEALTH).await;
    idle.read_until(HEALTHY).await;
    service.send_sigterm();
    // Idle connections are closed, because the service ends.
    assert_eq!(idle.read_to_end().await, "");
    client.send(rest).await;
    let said = client.read_to_end().await;
    assert_eq!(statuses(&said), [200], "{said}");
}

#[tokio::test]
async fn ctrl_c_ends_it_without_the_delay() {
    let (name, value) = FOR_LONG;
    let launch = launch().env(name, value);
    let mut service = launch.start().await;
    service.send("INT");
    assert_eq!(service.ended().await.code(), Some(0), "{}", launch.log());
}

#[tokio::test]
async fn a_start_by_nohup_goes_on_ignoring_sighup() {
    let mut launch = launch();
    let shell = ["sh", "-c", "trap '' HUP && exec \"$0\" \"$@\""].map(str::to_owned);
    launch.command.splice(0..0, shell);
    let service = launch.start().await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let mask = |name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(mask.expect("it is there").trim(), 16).unwrap()
    };
    // SIGHUP is the lowest bit.
    assert_eq!((mask("SigIgn:") & 1, mask("SigCgt:") & 1), (1, 0));
}
