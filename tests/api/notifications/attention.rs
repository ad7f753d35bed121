//! Messages that do not arrive are shown where operators look.

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{HOUR, alert, due, notification, start};

/// The number of failing notifications that the overview shows.
async fn failing(service: &TestService) -> Value {
    service.admin_get("/stats").await["attention"]["failing_notifications"].clone()
}

#[tokio::test]
async fn a_message_that_does_not_arrive_is_in_the_overview_and_in_the_metrics() {
    let (service, server) = start().await;
    server.refuse("nobody@example.com", "550 5.1.1 No such user");
    server.refuse("full@example.com", "452 4.2.2 Mailbox full");
    let to = |address: &str| json!({"channel": {"mail": [address]}});
    let nobody = notification(&service, to("nobody@example.com")).await;
    notification(&service, to("full@example.com")).await;
    notification(&service, Value::Null).await;
    assert_eq!(failing(&service).await, 0);
    alert(&service, None).await;
    due(&service).await;
    assert_eq!(server.taken().len(), 1, "Anna gets hers");
    // A refusal for good counts at once, and another one after an hour.
    assert_eq!(failing(&service).await, 1);
    service.advance(HOUR + HOUR / 60);
    assert_eq!(failing(&service).await, 2);
    let metrics = service.metrics().await;
    let value = |name: &str| {
        let start = format!("tapdesk_notification_{name} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&start));
        value.and_then(|value| value.parse::<i64>().ok())
    };
    assert_eq!(value("deliveries_waiting"), Some(1));
    assert_eq!(value("deliveries_given_up"), Some(1));
    assert!(value("late_seconds") >= Some(3_600), "{metrics}");
    // A recipient that is taken away, and one that gets a later message, need nobody.
    service.admin_patch(&nobody, to("ben@example.com")).await;
    assert_eq!(failing(&service).await, 1);
    server.refuse("full@example.com", "250 2.1.5 Ok");
    due(&service).await;
    assert_eq!(failing(&service).await, 0);
}
