//! A request in the log: found by its trace, with its database operations.

use serde_json::Value;
use tapdesk_tests::{Answering as _, eventually};

use crate::cli::launch;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[tokio::test]
async fn a_tap_is_in_the_log_under_its_callers_trace_with_each_operation_of_the_database() {
    let launch = launch().env("TAPDESK_LOG", "tapdesk_service=debug");
    let service = launch.start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    // A known tag may have been read ahead of its tap; an unknown one is looked up.
    for (path, status) in [(tag.path(), 302), ("/t/unknown".to_owned(), 404)] {
        let request = service.get(&path).header("traceparent", &parent);
        let tapped = request.answer().await;
        assert_eq!(tapped.status, status, "{}", tapped.body);
    }
    let malformed = service
        .get("/health")
        .header("traceparent", "00-nothing-01");
    assert_eq!(malformed.answer().await.status, 200);
    for (operation, route) in [("tag_tap", "/t/{slug}"), ("record_tap", "/t/{slug}")] {
        let line = eventually("the operation is logged", || async {
            let log = service.launch().log();
            let mut lines = log.lines().filter(|line| line.contains(TRACE));
            let line = lines.find(|line| line.contains(&format!(":{operation}:")));
            line.map(str::to_owned)
        })
        .await;
        assert!(line.contains(route), "{line}");
        assert!(line.contains("time.busy"), "{line}");
    }
    let log = service.launch().log();
    assert!(!log.contains("nothing"), "{log}");
}
