//! SIGTERM: what was acknowledged is there, and the exit status is 0.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tapdesk_tests::client::TryAnswering as _;
use tapdesk_tests::eventually;

use super::launch;

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
        .admin_request(reqwest::Method::GET, "/events")
        .send()
        .await
        .unwrap();
    assert_eq!(service.terminate().await.code(), Some(0));
    drop(events);
}
